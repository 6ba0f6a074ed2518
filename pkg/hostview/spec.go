package hostview

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/mountward/mountward/pkg/facts"
)

// maxSpec bounds what is read of a config.json. A privileged container on a
// large machine has some hundred kilobytes.
const maxSpec = 16 << 20

// Spec reads the specification in a bundle: what the runtime executes, after
// every plugin.
func (v *View) Spec(b Bundle) (*specs.Spec, error) {
	file := b.Dir + "/config.json"
	switch {
	case v.namespace.Truth == facts.Yes:
	case v.root != nil:
		file = v.proc + "/" + strconv.Itoa(v.pid) + "/root" + file
	default:
		return nil, cannotTellErr(file, v.walkErr)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, cannotTellErr(file, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSpec+1))
	if err == nil && len(text) > maxSpec {
		err = errors.New("larger than any specification")
	}
	var spec specs.Spec
	if err == nil {
		err = json.Unmarshal(text, &spec)
	}
	if err != nil {
		return nil, cannotTellErr(file, fmt.Errorf("read specification: %w", err))
	}
	return &spec, nil
}

// Privilege answers from the specification in a bundle whether its container
// is privileged.
func (v *View) Privilege(b Bundle) facts.Answer {
	spec, err := v.Spec(b)
	if err != nil {
		return facts.CannotTell(err.Error())
	}
	return privilegeOf(spec)
}

func privilegeOf(spec *specs.Spec) facts.Answer {
	s := facts.SpecPrivilege{}
	if spec.Process != nil && spec.Process.Capabilities != nil {
		s.Bounding = spec.Process.Capabilities.Bounding
	}
	mounts := make([]facts.Mount, 0, len(spec.Mounts))
	for _, m := range spec.Mounts {
		mounts = append(mounts, facts.Mount{Destination: m.Destination, Source: m.Source, Type: m.Type, Options: m.Options})
	}
	s.Sysfs = facts.SysfsWritable(mounts)
	if l := spec.Linux; l != nil {
		s.MaskedPaths, s.ReadonlyPaths, s.Seccomp = l.MaskedPaths, l.ReadonlyPaths, l.Seccomp != nil
		if l.Resources != nil {
			for _, d := range l.Resources.Devices {
				s.Devices = append(s.Devices, facts.DeviceRule{Allow: d.Allow, Type: d.Type, Access: d.Access, Major: d.Major, Minor: d.Minor})
			}
		}
	}
	return facts.PrivilegeFromSpec(s)
}
