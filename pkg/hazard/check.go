package hazard

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mountward/mountward/pkg/facts"
)

// Check returns the hazards of a list, in the order of their codes. What to do
// about each is for the policy to say: no action is set.
func Check(l List) []facts.Hazard {
	c := newChecker(l)
	if l.Stage == facts.StageMounted {
		for _, check := range []func(){c.inside, c.overlapping, c.writableSubmounts, c.duplicates, c.shadowed, c.ownRootfs} {
			check()
		}
		return c.found
	}
	for _, check := range []func(){
		c.inside, c.overlapping, c.sharedHost, c.rroReceives, c.readOnly, c.pinForBusy,
		c.duplicates, c.unclean, c.optionless, c.sharedInUserNamespace, c.shadowed, c.ownBundle,
	} {
		check()
	}
	return c.found
}

// checker holds a list with what several checks need of it.
type checker struct {
	List
	clean  []string // destinations as the kernel sees them
	landed []string // where they lead: the same where no link is on the way
	links  []link   // that were followed
	shared int      // the first rshared bind that was asked for or is there, -1 for none
	lies   stacked  // of landed
	toHost []bool   // what is mounted on the mount appears on the host
	found  []facts.Hazard
}

func newChecker(l List) *checker {
	if l.Stage == facts.StageMounted {
		l.Mounts = present(l.Mounts)
	}
	n := len(l.Mounts)
	c := &checker{List: l, clean: make([]string, n), landed: make([]string, n), links: make([]link, n), shared: -1}
	links := customary()
	for i, m := range l.Mounts {
		c.clean[i] = m.CleanDestination()
		if l.Stage == facts.StageMounted {
			c.landed[i] = m.At
		} else {
			c.landed[i], c.links[i] = landing(c.clean[i], links)
		}
		if c.shared < 0 && m.Bind() && (m.Asked == facts.Shared || m.Propagation == facts.Shared) {
			c.shared = i
		}
	}
	c.lies = newNest(c.landed).stack()
	c.toHost = make([]bool, n)
	for i := range l.Mounts {
		c.toHost[i] = c.reachesHost(i)
	}
	return c
}

// present leaves out the mounts that are not in the container's table.
func present(mounts []Mount) []Mount {
	found := make([]Mount, 0, len(mounts))
	for _, m := range mounts {
		if m.At != "" {
			found = append(found, m)
		}
	}
	return found
}

// reachesHost reports whether a mount made on this one appears on the host. A
// bind without a word does what an rshared one beside it does, since both get
// it from rootfsPropagation. Anything else without a word is in one group with
// its copy on the host, if it was made on a mount that leads there. In a user
// namespace nothing reaches the host. Measured on Linux 6.18 with runc 1.5.3.
func (c *checker) reachesHost(i int) bool {
	m := c.Mounts[i]
	switch {
	case c.UserNamespace && c.Stage != facts.StageMounted:
		return false
	case m.Bind():
		return m.Propagation == facts.Shared || m.Propagation == facts.Unset && c.shared >= 0
	default:
		on := c.lies.on[i]
		return (m.Propagation == facts.Unset || m.Propagation == facts.Shared) && on >= 0 && c.toHost[on]
	}
}

// report adds a hazard about the first mount.
func (c *checker) report(code facts.HazardCode, message string, mounts ...int) *facts.Hazard {
	h := facts.Hazard{Code: code, Stage: c.Stage, Message: message}
	for _, i := range mounts {
		h.Destinations = append(h.Destinations, c.Mounts[i].Destination)
	}
	c.found = append(c.found, h)
	return &c.found[len(c.found)-1]
}

// maxName bounds a path in a message, in bytes.
const maxName = 120

// name is a path for a message: as it is where it is plain, else quoted, and
// cut where it is long. The destinations of a hazard have it whole.
func name(p string) string {
	if len(p) > maxName {
		return strconv.Quote(p[:maxName]) + "..."
	}
	plain := p != "" && utf8.ValidString(p) && strings.IndexFunc(p, func(r rune) bool {
		return !unicode.IsPrint(r) || r == ' ' || r == '"' || r == '\\'
	}) < 0
	if plain {
		return p
	}
	return strconv.Quote(p)
}

// destination names a mount of the list.
func (c *checker) destination(i int) string { return name(c.Mounts[i].Destination) }
