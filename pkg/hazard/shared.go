package hazard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// inside finds mounts that are made on one whose mounts appear on the host.
func (c *checker) inside() {
	for i := range c.Mounts {
		on := c.lies.on[i]
		if on < 0 || !c.toHost[on] {
			continue
		}
		how := "lands inside"
		if c.landed[i] == c.landed[on] {
			how = "lands on"
		}
		h := c.report(facts.HazardInsideShared, fmt.Sprintf("%s%s the %s mount %s: it appears on the host as well, and doubles there at every restart",
			c.what(i), how, word(c.Mounts[on]), c.destination(on)), i, on)
		c.doubt(h, i, on)
		if c.Mounts[i].Bind() && c.Mounts[i].Propagation == facts.Shared {
			c.doubt(c.report(facts.HazardSharedTwice, fmt.Sprintf("is rshared inside the %s mount %s: what is mounted there doubles on the host at every restart",
				word(c.Mounts[on]), c.destination(on)), i, on), i, on)
		}
	}
	// Each code together.
	slices.SortStableFunc(c.found, func(a, b facts.Hazard) int { return strings.Compare(string(a.Code), string(b.Code)) })
}

// doubt notes the links that a relation of two destinations rests on.
func (c *checker) doubt(h *facts.Hazard, i, on int) {
	if c.Stage == facts.StageMounted || facts.Within(c.clean[i], c.clean[on]) {
		return
	}
	var followed []string
	for _, l := range []link{c.links[i], c.links[on]} {
		if text := l.from + " -> " + l.to; l != (link{}) && !slices.Contains(followed, text) {
			followed = append(followed, text)
		}
	}
	h.Doubt = "the image has the customary link " + strings.Join(followed, " and ")
}

// what names mounts that nobody expects on a host.
func (c *checker) what(i int) string {
	switch kind := c.kind(i); kind {
	case "":
		return ""
	default:
		return "is " + kind + " and "
	}
}

func (c *checker) kind(i int) string {
	m := c.Mounts[i]
	var volume facts.VolumeKind
	for _, source := range m.Sources() {
		if k, ok := facts.ParseKubeletPath(source, c.Host.KubeletRoot); ok && k.Kind != "" {
			volume = k.Kind
		}
	}
	d := c.clean[i] + "/"
	switch {
	case strings.Contains(d, "/secrets/kubernetes.io/serviceaccount/"):
		return "the service account token"
	case volume == facts.KindSecret:
		return "a secret"
	case strings.HasPrefix(d, "/var/run/secrets/") || strings.HasPrefix(d, "/run/secrets/"):
		return "a secret or token"
	case volume == facts.KindProjected:
		return "a projected volume, which can hold tokens,"
	case d == "/dev/shm/":
		return "the pod's shared memory"
	case d == "/dev/":
		return "/dev"
	default:
		return ""
	}
}

// word is the propagation of a mount whose mounts appear on the host.
func word(m Mount) string {
	if m.Propagation == facts.Shared {
		return "rshared"
	}
	return "option-less"
}

// overlapping finds rshared mounts of sources of which one is below the other,
// that do not lie in each other in the container: those were found already.
// They do not double by themselves (measured).
func (c *checker) overlapping() {
	if c.Stage == facts.StageMounted || c.UserNamespace {
		return
	}
	var all []int
	var sources []string
	for i, m := range c.Mounts {
		if !m.Bind() || m.Propagation != facts.Shared {
			continue
		}
		for _, s := range m.Sources() {
			all, sources = append(all, i), append(sources, s)
		}
	}
	n := newNest(sources)
	first := make([]int, len(n.above)) // the mount that shows a node
	for k := len(all) - 1; k >= 0; k-- {
		first[n.node[k]] = all[k]
	}
	told := map[int]bool{}
	for k, i := range all {
		other := first[n.node[k]]
		if other == i && n.above[n.node[k]] >= 0 {
			other = first[n.above[n.node[k]]]
		}
		if other == i || told[i] || c.lies.on[i] == other || c.lies.on[other] == i {
			continue
		}
		told[i] = true
		c.report(facts.HazardSharedTwice, fmt.Sprintf("shares %s, which the rshared mount %s shares as well: what the container mounts in one appears in the other too",
			name(sources[k]), c.destination(other)), i, other)
	}
}

// sharedHost finds rshared mounts of what all others on the node depend on.
func (c *checker) sharedHost() {
	for i, m := range c.Mounts {
		if !m.Bind() || m.Propagation != facts.Shared || c.UserNamespace {
			continue
		}
		for _, s := range m.Sources() {
			if message := c.sharedSource(s); message != "" {
				c.report(facts.HazardSharedHost, message, i)
				break
			}
		}
	}
}

func (c *checker) sharedSource(source string) string {
	state := c.Host.RuntimeState
	switch {
	case source == "/" || source == "/proc" || source == "/sys":
		return fmt.Sprintf("is rshared on the host's %s: what the container mounts or unmounts anywhere below it, the node gets or loses", source)
	case state != "" && (facts.Within(state, source) || facts.Within(source, state)):
		return fmt.Sprintf("is rshared over the runtime's state %s: the container can cover or unmount the root file systems of all others", name(state))
	default:
		return ""
	}
}

// optionless finds binds that get their propagation from an rshared mount
// beside them.
func (c *checker) optionless() {
	if c.shared < 0 || c.UserNamespace {
		return
	}
	for i, m := range c.Mounts {
		if m.Bind() && m.Propagation == facts.Unset {
			c.report(facts.HazardOptionless, fmt.Sprintf("has no propagation word beside the rshared mount %s, and is rshared because of it", c.destination(c.shared)), i, c.shared)
		}
	}
}

// sharedInUserNamespace finds rshared mounts that will not be.
func (c *checker) sharedInUserNamespace() {
	if !c.UserNamespace {
		return
	}
	for i, m := range c.Mounts {
		if m.Bind() && m.Propagation == facts.Shared {
			c.report(facts.HazardSharedUserns, "is rshared in a user namespace: the kernel lets it receive only, and what the container mounts there never reaches the host", i)
		}
	}
}
