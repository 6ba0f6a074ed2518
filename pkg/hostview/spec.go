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

// spec is what of a config.json tells whether a container is privileged. The
// rest, mostly the system calls of a seccomp filter, is passed over: a start
// waits for this.
type spec struct {
	Process *struct {
		Capabilities *struct {
			Bounding []string `json:"bounding"`
		} `json:"capabilities"`
	} `json:"process"`
	Mounts []specs.Mount `json:"mounts"`
	Linux  *struct {
		MaskedPaths   []string  `json:"maskedPaths"`
		ReadonlyPaths []string  `json:"readonlyPaths"`
		Seccomp       *struct{} `json:"seccomp"`
		Resources     *struct {
			Devices []specs.LinuxDeviceCgroup `json:"devices"`
		} `json:"resources"`
	} `json:"linux"`
}

// Privilege answers whether a container is privileged, from the specification
// in its bundle: what the runtime executes, after every plugin.
func (v *View) Privilege(b Bundle) facts.Answer {
	s, err := v.spec(b)
	if err != nil {
		return facts.CannotTell(err.Error())
	}
	return s.privilege()
}

func (v *View) spec(b Bundle) (*spec, error) {
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
	var s spec
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return nil, cannotTellErr(file, fmt.Errorf("read specification: %w", err))
	}
	return &s, nil
}

func (s *spec) privilege() facts.Answer {
	p := facts.SpecPrivilege{}
	if s.Process != nil && s.Process.Capabilities != nil {
		p.Bounding = s.Process.Capabilities.Bounding
	}
	mounts := make([]facts.Mount, 0, len(s.Mounts))
	for _, m := range s.Mounts {
		mounts = append(mounts, facts.Mount{Destination: m.Destination, Source: m.Source, Type: m.Type, Options: m.Options})
	}
	p.Sysfs = facts.SysfsWritable(mounts)
	if l := s.Linux; l != nil {
		p.MaskedPaths, p.ReadonlyPaths, p.Seccomp = l.MaskedPaths, l.ReadonlyPaths, l.Seccomp != nil
		if l.Resources != nil {
			for _, d := range l.Resources.Devices {
				p.Devices = append(p.Devices, facts.DeviceRule{Allow: d.Allow, Type: d.Type, Access: d.Access, Major: d.Major, Minor: d.Minor})
			}
		}
	}
	return facts.PrivilegeFromSpec(p)
}
