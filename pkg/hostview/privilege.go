package hostview

import (
	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/mountward/mountward/pkg/facts"
)

// confined is what of a config.json tells whether a container is privileged.
// The rest, mostly the system calls of a seccomp filter, is passed over: a start
// waits for this.
type confined struct {
	Process *process      `json:"process"`
	Mounts  []specs.Mount `json:"mounts"`
	Linux   *confinement  `json:"linux"`
}

type process struct {
	Capabilities *struct {
		Bounding []string `json:"bounding"`
	} `json:"capabilities"`
}

type confinement struct {
	MaskedPaths   []string  `json:"maskedPaths"`
	ReadonlyPaths []string  `json:"readonlyPaths"`
	Seccomp       *struct{} `json:"seccomp"`
	Resources     *struct {
		Devices []specs.LinuxDeviceCgroup `json:"devices"`
	} `json:"resources"`
}

// Privilege answers whether a container is privileged, from the specification
// in its bundle: what the runtime executes, after every plugin. It is Spec's
// answer for less work. The file is read without a helper: a start must not
// fail to know because the node is busy, and the runtime reads it in the same
// moment.
func (v *View) Privilege(b Bundle) facts.Answer {
	text, err := v.readNow(b.config(), maxSpec)
	if err != nil {
		return facts.CannotTell(err.Error())
	}
	answer, err := parsePrivilege(text)
	if err != nil {
		return facts.CannotTell(cannotTellErr(b.config(), err).Error())
	}
	return answer
}

func parsePrivilege(text []byte) (facts.Answer, error) {
	var c confined
	if err := decodeSpec(text, &c); err != nil {
		return facts.Answer{}, err
	}
	return privilege(c.Process, mountsOf(c.Mounts), c.Linux), nil
}

func privilege(process *process, mounts []facts.Mount, l *confinement) facts.Answer {
	p := facts.SpecPrivilege{Sysfs: facts.SysfsWritable(mounts)}
	if process != nil && process.Capabilities != nil {
		p.Bounding = process.Capabilities.Bounding
	}
	if l != nil {
		p.MaskedPaths, p.ReadonlyPaths, p.Seccomp = l.MaskedPaths, l.ReadonlyPaths, l.Seccomp != nil
		if l.Resources != nil {
			for _, d := range l.Resources.Devices {
				p.Devices = append(p.Devices, facts.DeviceRule{Allow: d.Allow, Type: d.Type, Access: d.Access, Major: d.Major, Minor: d.Minor})
			}
		}
	}
	return facts.PrivilegeFromSpec(p)
}
