package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// The codes of a container's mounts beside those of the kubelet.
const (
	CodeOnlyHost      = "only-host"      // the kubelet has it, the container has not
	CodeOnlyContainer = "only-container" // the other way round
	CodeStackDiffers  = "stack-differs"  // mounted there more often in one than in the other
	CodeTablesEqual   = "tables-equal"   // yes
	CodeTablesUnknown = "tables-unknown"
)

// ComparePod compares the mounts that the running containers of a pod have below
// the kubelet root with the kubelet's own, as a CSI driver and the kubelet can
// see different ones. The pod is named as NAMESPACE/NAME, NAME or by the id of a
// container, of which 8 characters do. It is an error where none is known by it.
func ComparePod(s *Snapshot, pod string) ([]Finding, error) {
	var all []Finding
	known := false
	for _, c := range s.containers() {
		if !c.called(pod) || c.Sandbox {
			continue
		}
		known = true
		all = append(all, s.compare(c)...)
	}
	if known {
		return all, nil
	}
	if len(s.Tasks) == 0 {
		return nil, fmt.Errorf("compare pod %s: no container of containerd is known on this node", word(pod))
	}
	return nil, fmt.Errorf("compare pod %s: no container of such a pod is known on this node; name it as NAMESPACE/NAME, NAME or by a container's id", word(pod))
}

func (c container) called(name string) bool {
	pod := c.Container.Pod
	switch {
	case name == "":
		return false
	case name == pod.Name, name == pod.Namespace+"/"+pod.Name && pod.Name != "":
		return true
	default:
		return len(name) >= 8 && strings.HasPrefix(c.Container.ID, name)
	}
}

// kubeletSpace is the mount namespace of the kubelet, or the one that the
// containers get their mounts from.
func (s *Snapshot) kubeletSpace() (space, bool) {
	for _, sp := range s.spaces() {
		if sp.has(RoleKubelet) {
			return sp, true
		}
	}
	return s.host()
}

func (s *Snapshot) compare(c container) []Finding {
	f := Finding{Code: CodeTablesUnknown, Subject: c.name(), Containers: []string{c.name()}}
	sp, ok := s.kubeletSpace()
	switch {
	case !ok:
		f.Message = "cannot tell: no mount table of the kubelet could be read"
		return []Finding{f}
	case c.Running.Truth == facts.No:
		f.Message = fmt.Sprintf("cannot tell what %s has mounted: %s", c.name(), c.Running.Why)
		return []Finding{f}
	case c.Running.Truth == facts.Unknown:
		f.Message = fmt.Sprintf("cannot tell what %s has mounted: %s", c.name(), c.Running.Why)
		return []Finding{f}
	}
	p := pairing{Snapshot: s, space: sp, container: c}
	table, err := s.tableOf(c)
	if err == nil {
		p.none = !p.views(table).ofKubelet()
		p.first = p.pair(sp.first().Table, table)
		// What is missing in one reading was perhaps only missed.
		if differs := slices.ContainsFunc(p.first, stackPair.differs); differs {
			err = p.confirm()
		}
	}
	if err != nil {
		f.Message = fmt.Sprintf("cannot tell what %s has mounted: %v", c.name(), err)
		return []Finding{f}
	}
	return p.findings()
}

// stackPair is what a container has mounted at one of its places, and what the
// kubelet has at the place of the host that it shows.
type stackPair struct {
	place        string // of the host
	at           string // of the container
	host, inside []hostview.Entry
}

func (p stackPair) differs() bool {
	same := func(a, b hostview.Entry) bool { return a.Identity() == b.Identity() }
	return !slices.EqualFunc(p.host, p.inside, same)
}

type pairing struct {
	*Snapshot
	space
	container
	first []stackPair
	none  bool // of the kubelet root is in the container
}

// pair puts the mounts below the kubelet root side by side: those of the host
// and those that a container has at the places of its binds. A container can
// have one place of the host at several of its own, each is compared; what lies
// below a further mount of the container is compared as that one's alone. What a
// later mount covers is not there for either.
func (p pairing) pair(host, inside *hostview.Table) []stackPair {
	places := map[string]*stackPair{}
	at := func(place, in string) *stackPair {
		if places[in] == nil {
			places[in] = &stackPair{place: place, at: in}
		}
		return places[in]
	}
	views := p.views(inside)
	for _, v := range views {
		for _, e := range inside.Below(v.inside) {
			if place, ok := views.shows(v, e.MountPoint); ok {
				at(place, e.MountPoint).inside = stack(inside, e)
			}
		}
		for _, e := range host.Below(v.host) {
			rest, _ := facts.Below(e.MountPoint, v.host)
			in := facts.JoinRoot(v.inside, rest)
			if place, ok := views.shows(v, in); ok {
				at(place, in).host = stack(host, e)
			}
		}
	}
	all := make([]stackPair, 0, len(places))
	for _, pair := range places {
		all = append(all, *pair)
	}
	slices.SortFunc(all, func(a, b stackPair) int {
		return cmp.Or(strings.Compare(a.place, b.place), strings.Compare(a.at, b.at))
	})
	return all
}

// stack returns the mounts at a mount point that lie on each other below the
// visible one, the lowest first.
func stack(t *hostview.Table, top hostview.Entry) []hostview.Entry {
	all := []hostview.Entry{top}
	for e, ok := t.ByID(top.Parent); ok && e.MountPoint == top.MountPoint && len(all) < t.Len(); e, ok = t.ByID(e.Parent) {
		all = append(all, e)
	}
	slices.Reverse(all)
	return all
}
