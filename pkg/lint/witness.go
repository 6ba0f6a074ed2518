package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// witnesses makes containers with one mount that a match is meant for, but for
// its source: what is found with one of them is so, since the policy itself has
// decided about it. None where the match asks for what cannot be made up.
func (l *linter) witnesses(match []policy.Key) []facts.Container {
	var all []facts.Container
	for _, kind := range []facts.Propagation{facts.Private, facts.Slave, facts.Shared, facts.Unset} {
		for _, privileged := range []bool{false, true} {
			if k, ok := key(match, keyPropagation); ok && !slices.Contains(k.Values, kind.String()) {
				continue
			}
			if k, ok := key(match, keyPrivileged); ok && wants(match, keyPrivileged) != privileged && len(k.Values) > 0 {
				continue
			}
			c := facts.Container{
				Name: "main", Image: "registry.example/app:1", Privileged: facts.Is(privileged, "as it may be"),
				Pod:    facts.Pod{ID: "ID", Namespace: "a-tenant", Name: "app-0", UID: "UID", Labels: map[string]string{}, Annotations: map[string]string{}},
				Mounts: []facts.Mount{{Destination: "/a-mount", Type: "bind", Options: []string{"rbind"}}},
			}
			if kind != facts.Unset {
				c.Mounts[0].Options = append(c.Mounts[0].Options, kind.Option())
			}
			if !l.dress(&c, match) {
				return nil
			}
			all = append(all, c)
		}
	}
	return all
}

// dress gives a container what a match asks for, and returns false where that
// cannot be made up.
func (l *linter) dress(c *facts.Container, match []policy.Key) bool {
	for _, k := range match {
		value, ok := sample(k.Values[0])
		if !ok {
			return false
		}
		switch k.Name {
		case keySource, keyPropagation, keyPrivileged: // see above
		case keyDestination:
			if c.Mounts[0].Destination, ok = l.vars.Expand(value); !ok {
				return false
			}
		case keyNamespace:
			c.Pod.Namespace = value
		case "pod":
			c.Pod.Name = value
		case "container":
			c.Name = value
		case keyImage:
			c.Image = value
		case "runtime_handler":
			c.Pod.Runtime = value
		case keyLabels:
			c.Pod.Labels[k.Of] = value
		case keyAnnotations:
			c.Pod.Annotations[k.Of] = value
		case keyRole:
			c.Role = value
		case keyUserns:
			c.UserNamespace = value == "true"
		case keyStatic:
			c.Pod.Annotations[facts.AnnotationConfigSource] = map[bool]string{true: "file", false: "api"}[value == "true"]
		case keyReadonly:
			c.Mounts[0].Options = append(c.Mounts[0].Options, map[bool]string{true: "ro", false: "rw"}[value == "true"])
		case "volume.kind":
			if !slices.Contains(k.Values, "hostPath") {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// sample returns a name or path that is in a glob, most likely.
func sample(glob string) (string, bool) {
	one := alternatives(glob)[0]
	if strings.ContainsAny(one, `[\`) {
		return "", false
	}
	return strings.NewReplacer("**", "x", "*", "x", "?", "x").Replace(one), true
}

// within returns a path that a source glob is for: its literal part where that
// is in it.
func (l *linter) within(glob string) (string, bool) {
	prefix, rest := l.memory.split(glob)
	if !policy.MatchBelow(rest, "") {
		prefix = strings.TrimSuffix(prefix, "/") + "/" + rest
	}
	at, ok := sample(prefix)
	if !ok {
		return "", false
	}
	return l.vars.Expand(at)
}

// decided returns what rules among themselves decide about a witness that mounts
// a path which leads where it says, and false where too much was asked.
func (l *linter) decided(c facts.Container, at string, places []int) (policy.Decision, bool) {
	if !l.memory.spend(len(l.rules)/20 + 10*len(places)) { // the globs of all rules are bound
		return policy.Decision{}, false
	}
	m := c.Mounts[0]
	m.Source = at
	m.Host = &facts.HostMount{Canonical: at, MountPoint: "/", Device: facts.DeviceNumber{Major: 8}, Root: "/", State: facts.MountState{Peer: 1}}
	c.Mounts = []facts.Mount{m}
	c.Mounts[0].Volume, _ = facts.VolumeOf(&c, &c.Mounts[0], l.vars.KubeletRoot)
	return l.policy.Among(places).Decide(c, policy.Env{Vars: l.vars}, false)[0], true
}

// tells names a witness in a finding.
func (l *linter) tells(c facts.Container) string {
	asks := "asking for " + c.Mounts[0].Requested().Option()
	if c.Mounts[0].Requested() == facts.Unset {
		asks = "asking for no propagation"
	}
	if c.Privileged.Truth == facts.Yes {
		asks += ", privileged"
	}
	return fmt.Sprintf("such as one in namespace %q, %s", c.Pod.Namespace, asks)
}
