package verify

import (
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// Stray is a mount that no outcome accounts for.
type Stray struct {
	Entry hostview.Entry
	// On is the asked mount it lies on, the index of its outcome; -1 for one
	// that lies on the container's root file system.
	On int
}

// CameAlong reports a mount that a recursive bind brought: the host has the same
// at the same place below the bind's source.
func (l Located) CameAlong(outcomes []facts.Outcome, stray Stray, host Lookup) bool {
	if stray.On < 0 {
		return false
	}
	bind := outcomes[stray.On].Mount
	if !bind.Bind() || bind.Host == nil {
		return false
	}
	rest, ok := facts.Below(stray.Entry.MountPoint, l.Places[stray.On].Entry.MountPoint)
	if !ok || rest == "" {
		return false
	}
	m, err := host(facts.JoinRoot(bind.Host.Canonical, rest))
	return err == nil && m.Identity() == stray.Entry.Identity()
}

// RuntimeMade reports a mount that the runtime makes for every container below
// /proc, /sys and /dev: masks, read-only paths, cgroups, the usual device nodes.
func (l Located) RuntimeMade(outcomes []facts.Outcome, stray Stray) bool {
	e := stray.Entry
	if stray.On < 0 || outcomes[stray.On].Mount.Bind() {
		return false
	}
	switch e.FSType {
	case "proc", "sysfs", "cgroup", "cgroup2", "devpts", "mqueue":
		return true
	case "tmpfs":
		return facts.Within(e.MountPoint, "/proc") || facts.Within(e.MountPoint, "/sys")
	case "devtmpfs":
		switch e.Root {
		case "/null", "/zero", "/full", "/random", "/urandom", "/tty", "/console":
			return true
		}
	}
	return false
}
