//go:build linux

package guest

import (
	"fmt"
	"slices"
	"strings"
)

// pinsAnswer is what "mountward pins -o json" prints, as far as it is tested.
type pinsAnswer struct {
	Schema  string
	Groups  []pinsGroup
	Targets []pinsReport
}

type pinsGroup struct {
	Holder   string
	Mounts   int
	Targets  int
	DeadPods int `json:"dead_pods"`
}

type pinsReport struct {
	Target   struct{ Name, Kind string }
	Alive    answered
	Open     *struct{ Count, Explained int }
	Holders  []holder
	Searched []string
	Suspects []string
	Unknown  []struct{ What, Why string }
}

type holder struct {
	Kind, Where, Use string
	User             bool
	Mounts           []struct {
		MountPoint  string `json:"mount_point"`
		Propagation string
		Line        string
	}
	Files     []struct{ Kind, Path string }
	Device    string
	Path      string
	Processes []struct {
		PID  int
		Comm string
	}
	Owner struct {
		ContainerID               string `json:"container_id"`
		Container, Namespace, Pod string
		Unit                      string
	}
	Why      string
	Evidence []struct{ Text, Show string }
	Cures    []cure
}

type cure struct {
	What     string
	Commands []string
}

// String is a holder in a few words: how it holds, where, and whose it is.
func (h holder) String() string {
	of := h.Owner.Unit
	if h.Owner.Pod != "" {
		of = h.Owner.Namespace + "/" + h.Owner.Pod + "/" + h.Owner.Container
	}
	if h.Where == "kernel" {
		of = h.Device + h.Path
	}
	if h.Where == "host" && h.Kind == "mount" {
		of = h.Use
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", h.Kind, h.Where, of))
}

// pins asks who holds one target. What it says must have its evidence, and each
// opening of a device be explained, or else be told.
func (s *stack) pins(code int, target string) pinsReport {
	s.Helper()
	s.do("udevadm", "settle") // udev looks at a device that was closed
	a := ask[pinsAnswer](s.T, code, "pins", target)
	if a.Schema != "mountward.pins/v1" || len(a.Targets) != 1 {
		s.Fatalf("pins %s: schema %q and %d targets", target, a.Schema, len(a.Targets))
	}
	r := a.Targets[0]
	s.evident(r)
	return r
}

// evident holds a report to what all must have.
func (s *stack) evident(r pinsReport) {
	s.Helper()
	for _, h := range r.Holders {
		s.Logf("%s: %s: %s", r.Target.Name, h, h.Why)
		if len(h.Evidence) == 0 || h.Evidence[0].Text == "" || h.Evidence[0].Show == "" || h.Why == "" || len(h.Cures) == 0 {
			s.Errorf("no evidence, reason or cure: %+v", h)
		}
	}
	if r.Open == nil {
		s.Errorf("the open count of %s is not told", r.Target.Name)
	} else if r.Open.Count != r.Open.Explained && len(r.Suspects) == 0 {
		s.Errorf("%d of %d openings of %s are explained, and nothing is suspected", r.Open.Explained, r.Open.Count, r.Target.Name)
	}
}

// systemCopy reports a mount of one of systemd's own services, which follow the
// host: they have all that the host has.
func (h holder) systemCopy() bool {
	return h.Kind == "mount" && h.Where == "other" && strings.HasPrefix(h.Owner.Unit, "systemd-") &&
		len(h.Mounts) > 0 && strings.HasPrefix(h.Mounts[0].Propagation, "slave copy of the host")
}

// heldBy compares the holders of a report, sorted, but for what follows the host
// on every node with systemd.
func (s *stack) heldBy(r pinsReport, want ...string) {
	s.Helper()
	var got []string
	for _, h := range r.Holders {
		if !h.systemCopy() {
			got = append(got, h.String())
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	s.equal("holders of "+r.Target.Name, want, got)
	if r.Open != nil && r.Open.Count != r.Open.Explained {
		s.Errorf("%d of %d openings of %s are explained", r.Open.Explained, r.Open.Count, r.Target.Name)
	}
}

// holder is the one of a kind.
func (s *stack) holder(r pinsReport, kind string) holder {
	s.Helper()
	i := slices.IndexFunc(r.Holders, func(h holder) bool { return h.Kind == kind })
	if i < 0 {
		s.Fatalf("nothing holds %s by a %s: %+v", r.Target.Name, kind, r.Holders)
	}
	return r.Holders[i]
}

// cured executes the first cure that has a command that begins so, as it is
// printed.
func (s *stack) cured(h holder, command string) {
	s.Helper()
	i := slices.IndexFunc(h.Cures, func(c cure) bool { return len(c.Commands) > 0 && strings.HasPrefix(c.Commands[0], command) })
	if i < 0 {
		s.Fatalf("no cure %q: %+v", command, h.Cures)
	}
	shell(s.T, h.Cures[i].Commands)
}

// free wants that nobody holds the volume, which is seen by its removal.
func (v *publishedLV) free() {
	v.Helper()
	await(v.T, "nobody to hold "+v.name, func() (any, error) { // the kernel takes a namespace down later than it ends
		if _, code, stderr := tryAsk[pinsAnswer](v.T, "pins", v.name); code != exitSound {
			return nil, fmt.Errorf("exit code %d: %s", code, stderr)
		}
		return nil, nil
	})
	r := v.pins(exitSound, v.name)
	v.heldBy(r)
	if r.Alive.Answer == "yes" || len(r.Searched) == 0 || r.Open == nil || r.Open.Count != 0 {
		v.Errorf("alive %+v, open %+v, searched %q; want none", r.Alive, r.Open, r.Searched)
	}
	v.do("lvremove", "--quiet", "--yes", v.name)
}
