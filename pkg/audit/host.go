package audit

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
)

// Host is recorded when a path of the host that containers depend on starts or
// stops being on a shared mount, in the mount namespace of the runtime.
type Host struct {
	Path   string          `json:"path"` // as the settings or the kubelet name it
	What   string          `json:"what"` // "kubelet root" or "required path"
	Shared bool            `json:"shared"`
	Mount  facts.HostMount `json:"mount"` // the one the path is on now
}

func (h Host) describe() description {
	desc := description{kind: kindHost(), priority: prioNotice}
	where := fmt.Sprintf("the %s %s is on %s, which is %s in the runtime's namespace", h.What, word(h.Path), word(h.Mount.MountPoint), h.Mount.State)
	if h.Shared {
		desc.message = "a host path is shared now: " + where + "; containers created from now on can follow it"
	} else {
		desc.priority = prioWarning
		desc.message = "a host path is no longer shared: " + where + "; containers do not see what is mounted there; run: mount --make-rshared " + word(h.Mount.MountPoint)
	}
	state := "not shared"
	if h.Shared {
		state = "shared"
	}
	desc.fields.add("MOUNTWARD_PATH", h.Path)
	desc.fields.add("MOUNTWARD_STATE", state)
	desc.fields.add("MOUNTWARD_MOUNT", h.Mount.Line())
	if !h.Mount.Device.IsZero() {
		desc.fields.add("MOUNTWARD_DEVICE", h.Mount.Device.String())
	}
	return desc
}
