package hostview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/mountward/mountward/pkg/facts"
)

// maxSpec bounds what is read of a config.json. A privileged container on a
// large machine has some hundred kilobytes.
const maxSpec = 16 << 20

// Spec is the specification of a container in its bundle: what the runtime
// executes, after every plugin.
type Spec struct {
	Annotations       map[string]string
	Mounts            []facts.Mount
	Devices           []facts.Device
	RootfsPropagation string // as it is written: "rslave"; "" is the runtime's default
	UserNamespace     bool
	Privileged        facts.Answer
}

// Spec reads the specification of a container. The error is a *CannotTell: it
// can be missing, empty or half written while the container is made.
func (v *View) Spec(ctx context.Context, b Bundle) (Spec, error) {
	text, err := v.ReadFile(ctx, b.config(), maxSpec)
	if err != nil {
		return Spec{}, err
	}
	s, err := ParseSpec(text)
	if err != nil {
		return Spec{}, cannotTellErr(b.config(), err)
	}
	return s, nil
}

// document is what of a config.json a Spec is made of.
type document struct {
	Process     *process          `json:"process"`
	Mounts      []specs.Mount     `json:"mounts"`
	Annotations map[string]string `json:"annotations"`
	Linux       *struct {
		confinement
		Devices           []specs.LinuxDevice    `json:"devices"`
		Namespaces        []specs.LinuxNamespace `json:"namespaces"`
		RootfsPropagation string                 `json:"rootfsPropagation"`
	} `json:"linux"`
}

// ParseSpec reads a specification, wherever its text is from.
func ParseSpec(text []byte) (Spec, error) {
	var d document
	if err := decodeSpec(text, &d); err != nil {
		return Spec{}, err
	}
	s := Spec{Annotations: d.Annotations, Mounts: mountsOf(d.Mounts)}
	if d.Linux == nil {
		s.Privileged = privilege(d.Process, s.Mounts, nil)
		return s, nil
	}
	s.Privileged = privilege(d.Process, s.Mounts, &d.Linux.confinement)
	s.RootfsPropagation = d.Linux.RootfsPropagation
	s.UserNamespace = slices.ContainsFunc(d.Linux.Namespaces, func(n specs.LinuxNamespace) bool {
		return n.Type == specs.UserNamespace
	})
	for _, dev := range d.Linux.Devices {
		if n, ok := deviceNumber(dev); ok {
			s.Devices = append(s.Devices, facts.Device{Path: dev.Path, Type: dev.Type, Number: n})
		}
	}
	return s, nil
}

// decodeSpec says of an empty or half-written file that it is one.
func decodeSpec(text []byte, to any) error {
	if len(text) == 0 {
		return errors.New("read specification: it is empty")
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("read specification: %w", err)
	}
	return nil
}

func mountsOf(all []specs.Mount) []facts.Mount {
	mounts := make([]facts.Mount, 0, len(all))
	for _, m := range all {
		mounts = append(mounts, facts.Mount{Destination: m.Destination, Source: m.Source, Type: m.Type, Options: m.Options})
	}
	return mounts
}

// deviceNumber is false for a FIFO, and for what is no number of a device.
func deviceNumber(d specs.LinuxDevice) (facts.DeviceNumber, bool) {
	const most = 1<<32 - 1
	if d.Type == "p" || d.Major < 0 || d.Major > most || d.Minor < 0 || d.Minor > most {
		return facts.DeviceNumber{}, false
	}
	return facts.DeviceNumber{Major: uint32(d.Major), Minor: uint32(d.Minor)}, true
}
