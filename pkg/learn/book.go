package learn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// place is one mount of one container.
type place struct {
	id    string
	mount int
}

// book keeps what was seen of each workload.
type book struct {
	vars       policy.Vars
	containers []facts.Container                        // those that a rule can name, in an order of their own
	seen       map[workload]map[string]map[string]kinds // by container and source glob
	pods       map[workload][]string
	left       map[place]bool // mounts that no rule was written for
	unknown    []facts.Unread
}

// kinds is a set of propagations, a bit each.
type kinds uint8

func (k kinds) has(p facts.Propagation) bool { return k&(1<<p) != 0 }

// allowed are the propagations of a set and all that surely let less through. A
// mount without a word gets what the root of its container has: as much as rshared
// where another mount asks for that, so that rslave does not cover it.
func (k kinds) allowed() kinds {
	if k.has(facts.Shared) {
		return 1<<facts.Shared | 1<<facts.Slave | 1<<facts.Unset
	}
	return k
}

func (k kinds) words() (all []string) {
	for _, p := range []facts.Propagation{facts.Shared, facts.Slave, facts.Unset} {
		if k.has(p) {
			all = append(all, p.String())
		}
	}
	return all
}

// maxName bounds a name or path that a rule can have: its glob may be twice as
// long.
const maxName = 480

func newBook(s Seen) *book {
	b := &book{vars: s.Vars, seen: map[workload]map[string]map[string]kinds{}, pods: map[workload][]string{}, left: map[place]bool{}}
	all := slices.Clone(s.Containers)
	slices.SortStableFunc(all, func(x, y facts.Container) int {
		return cmp.Or(
			cmp.Compare(x.Pod.Namespace, y.Pod.Namespace), cmp.Compare(x.Pod.Name, y.Pod.Name),
			cmp.Compare(x.Name, y.Name), cmp.Compare(x.ID, y.ID),
		)
	})
	for _, c := range all {
		b.add(c)
	}
	return b
}

func (b *book) add(c facts.Container) {
	if why := unnamed(c); why != "" {
		b.unknown = append(b.unknown, facts.Unread{What: describe(c), Why: why})
		return
	}
	b.containers = append(b.containers, c)
	w := workloadOf(c.Pod)
	if b.seen[w] == nil {
		b.seen[w] = map[string]map[string]kinds{}
	}
	if b.seen[w][c.Name] == nil {
		b.seen[w][c.Name] = map[string]kinds{}
	}
	b.pods[w] = append(b.pods[w], c.Pod.Name)
	for i, m := range c.Mounts {
		asked := m.Requested()
		if !m.Bind() || asked == facts.Private || asked == facts.Unbindable {
			continue
		}
		p, ok := sourcePath(m, b.vars.KubeletRoot)
		if why := unwritable(p); !ok || why != "" {
			if !ok {
				why = "its source is no absolute path and was not resolved"
			}
			b.left[place{c.ID, i}] = true
			b.unknown = append(b.unknown, facts.Unread{What: "mount " + m.Destination + " of " + describe(c), Why: why})
			continue
		}
		b.seen[w][c.Name][sourceGlob(p, c.Pod, b.vars.KubeletRoot)] |= 1 << asked
	}
}

// unnamed says why no rule can name a container.
func unnamed(c facts.Container) string {
	for _, n := range []struct{ what, text string }{{"namespace", c.Pod.Namespace}, {"name of a pod", c.Pod.Name}, {"name", c.Name}} {
		if n.text == "" {
			return "it has no " + n.what + ": it was not made by Kubernetes, or that is not known"
		}
		if why := unwritable(n.text); why != "" {
			return "its " + n.what + ": " + why
		}
	}
	return ""
}

// unwritable says why a policy cannot hold a text.
func unwritable(text string) string {
	switch {
	case !utf8.ValidString(text):
		return "it is not UTF-8, and a policy is"
	case len(text) > maxName:
		return fmt.Sprintf("it is longer than %d bytes", maxName)
	case strings.Contains(text, "\x00"):
		return "it has a zero byte"
	default:
		return ""
	}
}

// describe names a container for people, each name in quotes where it needs them.
func describe(c facts.Container) string {
	if c.Pod.Name == "" {
		return "container " + word(cmp.Or(c.Name, c.ID))
	}
	return fmt.Sprintf("container %s of pod %s/%s", word(c.Name), word(c.Pod.Namespace), word(c.Pod.Name))
}

// word is a text that cannot be taken for another in a line.
func word(text string) string {
	quoted := fmt.Sprintf("%+q", text)
	if quoted == `"`+text+`"` && text != "" && !strings.Contains(text, " ") {
		return text
	}
	return quoted
}

func sorted(all []facts.Unread) []facts.Unread {
	slices.SortFunc(all, func(x, y facts.Unread) int { return cmp.Or(cmp.Compare(x.What, y.What), cmp.Compare(x.Why, y.Why)) })
	return slices.Compact(all)
}
