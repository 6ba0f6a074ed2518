package doctor

import (
	"cmp"
	"fmt"
	"path"
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

// stackPair is what is mounted at one place of the host, and at the same
// place in a container.
type stackPair struct {
	place        string // of the host
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
}

// pair puts the mounts below the kubelet root side by side: those of the host
// and those that a container has at the places of its binds.
func (p pairing) pair(host, inside *hostview.Table) []stackPair {
	places := map[string]*stackPair{}
	at := func(place string) *stackPair {
		if places[place] == nil {
			places[place] = &stackPair{place: place}
		}
		return places[place]
	}
	scopes := p.scopes()
	for e := range inside.All() {
		for _, s := range scopes {
			if rest, ok := facts.Below(e.MountPoint, s.inside); ok && rest != "" {
				pair := at(path.Join(s.host, rest))
				pair.inside = append(pair.inside, e)
				break
			}
		}
	}
	for e := range host.All() {
		for _, s := range scopes {
			if rest, ok := facts.Below(e.MountPoint, s.host); ok && rest != "" {
				pair := at(e.MountPoint)
				pair.host = append(pair.host, e)
				break
			}
		}
	}
	all := make([]stackPair, 0, len(places))
	for _, pair := range places {
		order(host, pair.host)
		order(inside, pair.inside)
		all = append(all, *pair)
	}
	slices.SortFunc(all, func(a, b stackPair) int { return strings.Compare(a.place, b.place) })
	return all
}

// order puts a stack in the order of who lies on whom.
func order(t *hostview.Table, stack []hostview.Entry) {
	if len(stack) < 2 {
		return
	}
	depth := map[int]int{}
	for _, e := range stack {
		n := 0
		for at, ok := t.ByID(e.Parent); ok && n < t.Len() && at.ID != at.Parent; at, ok = t.ByID(at.Parent) {
			n++
		}
		depth[e.ID] = n
	}
	slices.SortStableFunc(stack, func(a, b hostview.Entry) int { return cmp.Compare(depth[a.ID], depth[b.ID]) })
}

// scope is a part of the host that a container has, at or below the kubelet
// root.
type scope struct{ host, inside string }

// scopes are those of a container, the ones that lie deepest inside first.
func (p pairing) scopes() []scope {
	var all []scope
	root := p.kubeletRoot()
	for _, m := range p.Spec.Mounts {
		if !m.Bind() {
			continue
		}
		source := m.Source
		if files := p.space.first().Files; files != nil {
			if canonical, err := resolve(p.Context, files, source); err == nil {
				source = canonical
			}
		}
		if rest, ok := facts.Below(root, source); ok {
			all = append(all, scope{root, path.Join(m.CleanDestination(), rest)})
		} else if facts.Within(source, root) {
			all = append(all, scope{source, m.CleanDestination()})
		}
	}
	slices.SortStableFunc(all, func(a, b scope) int { return cmp.Compare(len(b.inside), len(a.inside)) })
	return all
}
