package learn

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// example is one test: a container, and what must be decided about its mounts.
type example struct {
	name      string
	container facts.Container
	expect    []facts.Action
}

// tests writes the tests: each shape of container that was seen is allowed, and
// more than that is denied.
func (b *book) tests(s Seen, p *policy.Policy) (text []byte, left []facts.Unread) {
	var t strings.Builder
	fmt.Fprintf(&t, `# Learned from %s, with the policy: what runs is allowed, and more is denied.
policy = [%q]

[host]
`, comment(s.From), PolicyName)
	for _, v := range []struct{ key, value string }{
		{"kubelet_root ", s.Vars.KubeletRoot}, {"runtime_state", s.Vars.RuntimeState}, {"runtime_root ", s.Vars.RuntimeRoot},
	} {
		if v.value != "" && unwritable(v.value) == "" {
			fmt.Fprintf(&t, "%s = %s\n", v.key, quote(v.value))
		}
	}
	names := map[string]bool{}
	for _, e := range b.examples() {
		if why := e.wrong(p, b.vars); why != "" {
			left = append(left, facts.Unread{What: "a test of " + describe(e.container), Why: why})
			continue
		}
		e.name = unique(names, e.name)
		e.write(&t, p, b.vars)
	}
	return []byte(t.String()), left
}

// examples returns the first container of each shape with what it may, and for each
// container of a workload what it may not.
func (b *book) examples() (all []example) {
	shapes, refused := map[string]bool{}, map[string]bool{}
	for _, c := range b.containers {
		w := workloadOf(c.Pod)
		here := w.String() + " " + w.pods + " " + c.Name
		may, shape := b.may(c)
		if key := here + "\n" + shape; !shapes[key] && len(may.container.Mounts) > 0 {
			shapes[key] = true
			all = append(all, may)
		}
		if !refused[here] {
			refused[here] = true
			all = append(all, b.mayNot(c, b.seen[w][c.Name]))
		}
	}
	return append(all, example{
		name: "anybody may mount what lets nothing through",
		container: facts.Container{
			Name: "main", Pod: facts.Pod{Namespace: "default", Name: "any"},
			Mounts: []facts.Mount{bind("/", "/host", facts.Private), bind("/", "/once", facts.Unbindable)},
		},
		expect: []facts.Action{facts.ActionAllow, facts.ActionAllow},
	})
}

// may is what a container was seen with, and the shape of that: what rules of its
// own are for.
func (b *book) may(c facts.Container) (example, string) {
	e := example{name: describe(c) + " is as it was seen", container: named(c)}
	var shape strings.Builder
	for i, m := range c.Mounts {
		p, ok := sourcePath(m, b.vars.KubeletRoot)
		if !m.Bind() || !ok || b.left[place{c.ID, i}] || unwritable(p) != "" || unwritable(m.Destination) != "" {
			continue
		}
		asked := m.Requested()
		e.container.Mounts = append(e.container.Mounts, bind(p, m.Destination, asked))
		e.expect = append(e.expect, facts.ActionAllow)
		if asked != facts.Private && asked != facts.Unbindable { // those have the pod's uid in their path, and one rule
			fmt.Fprintf(&shape, "%q %s\n", sourceGlob(p, c.Pod, b.vars.KubeletRoot), asked)
		}
	}
	return e, shape.String()
}

// mayNot is what a container was not seen with: each of its sources with more, and
// one that it does not share.
func (b *book) mayNot(c facts.Container, seen map[string]kinds) example {
	e := example{name: describe(c) + " may do no more", container: named(c)}
	add := func(p string) {
		e.container.Mounts = append(e.container.Mounts, bind(p, p, facts.Shared))
		e.expect = append(e.expect, facts.ActionDeny)
	}
	granted := func(p string) bool {
		return seen[sourceGlob(p, c.Pod, b.vars.KubeletRoot)].has(facts.Shared)
	}
	for _, m := range c.Mounts {
		asked := m.Requested()
		p, ok := sourcePath(m, b.vars.KubeletRoot)
		if m.Bind() && ok && (asked == facts.Slave || asked == facts.Unset) && unwritable(p) == "" && !granted(p) {
			add(p)
		}
	}
	for _, p := range []string{"/", "/etc", "/proc", "/srv", "/opt"} {
		if !granted(p) {
			add(p)
			break
		}
	}
	return e
}

// named is a container with what its tests say of it beside its mounts.
func named(c facts.Container) facts.Container {
	n := facts.Container{Name: c.Name, Privileged: c.Privileged, Pod: facts.Pod{Namespace: c.Pod.Namespace, Name: c.Pod.Name}}
	if unwritable(c.Pod.UID) == "" {
		n.Pod.UID = c.Pod.UID
	}
	return n
}

func bind(source, destination string, asked facts.Propagation) facts.Mount {
	options := []string{"rbind"}
	if word := asked.Option(); word != "" {
		options = append(options, word)
	}
	return facts.Mount{Source: source, Destination: destination, Type: "bind", Options: append(options, "rw")}
}

// wrong says why a test would fail, "" where it passes.
func (e example) wrong(p *policy.Policy, v policy.Vars) string {
	if len(e.expect) == 0 {
		return "it has no mount that a test can have"
	}
	for i, d := range p.Decide(e.container, policy.Env{Vars: v}, false) {
		if d.Action != e.expect[i] {
			return fmt.Sprintf("mount %s as %s is %s by rule %q, not %s", e.container.Mounts[i].Destination, e.container.Mounts[i].Requested(), d.Action, d.Rule, e.expect[i])
		}
	}
	return ""
}

func (e example) write(t *strings.Builder, p *policy.Policy, v policy.Vars) {
	pod := fmt.Sprintf("namespace = %s, name = %s", quote(e.container.Pod.Namespace), quote(e.container.Pod.Name))
	if e.container.Pod.UID != "" {
		pod += ", uid = " + quote(e.container.Pod.UID)
	}
	fmt.Fprintf(t, "\n[[test]]\nname      = %s\npod       = { %s }\ncontainer = { name = %s, privileged = %s }\nmount     = [\n",
		quote(e.name), pod, quote(e.container.Name), privileged(e.container.Privileged))
	for i, d := range p.Decide(e.container, policy.Env{Vars: v}, false) {
		m := e.container.Mounts[i]
		fmt.Fprintf(t, "  { source = %s, destination = %s, propagation = %q, expect = { action = %q, rule = %s } },\n",
			quote(m.Source), quote(m.Destination), option(m.Requested()), e.expect[i], quote(d.Rule))
	}
	t.WriteString("]\n")
}

func privileged(a facts.Answer) string {
	switch a.Truth {
	case facts.Yes:
		return "true"
	case facts.No:
		return "false"
	default:
		return `"unknown"`
	}
}

// option is the word of a file with tests.
func option(p facts.Propagation) string {
	if word := p.Option(); slices.Contains([]string{"rprivate", "rslave", "rshared", "runbindable"}, word) {
		return word
	}
	return facts.Unset.String()
}
