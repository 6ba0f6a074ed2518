package manifest

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// subPath is the part of a volume that a mount takes. why says why the rest of it
// is not known, "" where all is.
type subPath struct{ text, why string }

// subPath reads what a mount takes of its volume; set is false where it takes the
// whole.
func (b *builder) subPath(c container, m volumeMount) (s subPath, set bool, err error) {
	s.text = m.SubPath
	if m.SubPath == "" && m.SubPathExpr != "" {
		s = b.environment(c).expand(m.SubPathExpr)
	}
	for _, text := range []string{s.text, m.SubPathExpr} {
		if slices.Contains(strings.Split(text, "/"), "..") || path.IsAbs(text) {
			return s, true, fmt.Errorf("sub-path %q is absolute or has \"..\"", text)
		}
	}
	return s, s.text != "" || s.why != "", nil
}

// under says in a note where on the host a sub-path of a volume is, as far as that
// is known. Only whole components are.
func (s subPath) under(volume string, n *Note) {
	if s.why == "" {
		n.Under = path.Join(volume, s.text)
		return
	}
	whole := s.text[:strings.LastIndexByte(s.text, '/')+1]
	n.Below = path.Join(volume, whole)
	n.Unknown = strings.TrimPrefix(n.Unknown+"; what the sub-path is cannot be told: "+s.why, "; ")
}

// environment is what is known of the environment of a container, by name.
type environment struct {
	values map[string]subPath
	from   bool // more variables come from envFrom
}

// environment reads the environment of a container as the kubelet makes it: a
// value may name variables before it. Source: kubernetes 1.37
// pkg/kubelet/kubelet_pods.go makeEnvironmentVariables.
func (b *builder) environment(c container) environment {
	e := environment{values: map[string]subPath{}, from: len(c.EnvFrom) > 0}
	for _, v := range c.Env {
		switch {
		case v.ValueFrom == nil:
			e.values[v.Name] = e.expand(v.Value)
		case v.ValueFrom.FieldRef != nil:
			e.values[v.Name] = b.field(v.Name, v.ValueFrom.FieldRef.FieldPath)
		default:
			e.values[v.Name] = subPath{why: fmt.Sprintf("$(%s) comes from where the manifest does not show it", v.Name)}
		}
	}
	return e
}

// field is a field of the pod, as far as the manifest shows it: a controller may add
// labels and annotations.
func (b *builder) field(name, field string) subPath {
	value, known := "", false
	of := func(m map[string]string, prefix string) {
		if key, ok := strings.CutPrefix(field, prefix+"['"); ok && strings.HasSuffix(key, "']") {
			value, known = m[strings.TrimSuffix(key, "']")]
		}
	}
	switch field {
	case "metadata.name":
		value, known = b.of.Name, b.of.named
	case "metadata.namespace":
		value, known = orElse(b.of.Namespace, b.Namespace), true
	case "metadata.uid":
		value, known = b.of.UID, b.of.UID != ""
	}
	of(b.of.Labels, "metadata.labels")
	of(b.of.Annotations, "metadata.annotations")
	if !known {
		return subPath{why: fmt.Sprintf("$(%s) is %s, which the manifest does not show", name, field)}
	}
	return subPath{text: value}
}

// expand replaces "$(NAME)" and "$$", as far as the values are known. Source:
// kubernetes 1.37 third_party/forked/golang/expansion.
func (e environment) expand(text string) subPath {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			return subPath{text: b.String()}
		}
		name, after, closed := strings.Cut(strings.TrimPrefix(rest, "("), ")")
		switch {
		case strings.HasPrefix(rest, "$"):
			b.WriteByte('$')
			text = rest[1:]
			continue
		case !strings.HasPrefix(rest, "(") || !closed:
			b.WriteByte('$')
			text = rest
			continue
		}
		value, ok := e.values[name]
		if !ok {
			value.why = e.missing(name)
		}
		b.WriteString(value.text)
		if value.why != "" {
			return subPath{b.String(), value.why}
		}
		text = after
	}
}

func (e environment) missing(name string) string {
	if e.from {
		return fmt.Sprintf("$(%s) may come from envFrom", name)
	}
	return fmt.Sprintf("the manifest sets no $(%s)", name)
}

// onHost reports a volume that is a directory of the host's own file systems: a
// path below it leads to what the same path of the host does.
func (v volume) onHost() bool {
	switch v.kind {
	case kindHostPath, "configMap", "gitRepo":
		return true
	case "emptyDir":
		return v.source.Medium == ""
	default:
		return false
	}
}

// Reaches reports whether what a sub-path is bound from may be a path of the host, or
// one below it of which is reports that it is meant. So may all of which nothing is
// known.
func (n Note) Reaches(p string, is func(below string) bool) bool {
	if n.Under != "" {
		below, ok := facts.Below(n.Under, p)
		return ok && is(below)
	}
	return n.Below == "" || facts.Within(n.Below, p) || facts.Within(p, n.Below)
}
