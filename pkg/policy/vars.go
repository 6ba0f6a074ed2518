package policy

import (
	"fmt"
	"path"
	"strings"
)

// Vars are the values of the variables that paths of a policy may use.
type Vars struct {
	KubeletRoot  string // ${kubelet_root}, such as /var/lib/kubelet
	RuntimeState string // ${runtime_state}, such as /run/containerd
	RuntimeRoot  string // ${runtime_root}, such as /var/lib/containerd
}

const variables = "${kubelet_root}, ${runtime_state} and ${runtime_root}"

// value returns the value of a variable, and false for one that the language
// does not have.
func (v Vars) value(name string) (string, bool) {
	switch name {
	case "kubelet_root":
		return v.KubeletRoot, true
	case "runtime_state":
		return v.RuntimeState, true
	case "runtime_root":
		return v.RuntimeRoot, true
	default:
		return "", false
	}
}

// eachPart calls literal and variable for the parts of a text, in order.
func eachPart(text string, literal, variable func(string)) error {
	for text != "" {
		before, rest, found := strings.Cut(text, "${")
		literal(before)
		if !found {
			return nil
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return fmt.Errorf("%q has no closing brace", "${"+rest)
		}
		variable(name)
		text = after
	}
	return nil
}

// expand replaces the variables of a text. missing is the first whose value is
// not known; a value is known only if it is an absolute path, since an empty
// one would make "${kubelet_root}/**" mean everything.
func (v Vars) expand(text string, escape bool) (expanded, missing string) {
	if !strings.Contains(text, "${") {
		return text, ""
	}
	var b strings.Builder
	_ = eachPart(text, func(s string) { b.WriteString(s) }, func(name string) { // Parse found no error
		value, _ := v.value(name)
		if !path.IsAbs(value) && missing == "" {
			missing = name
		}
		if escape {
			value = escapeMeta(value)
		}
		b.WriteString(value)
	})
	return b.String(), missing
}

// checkVariables returns what is wrong with the variables of a text.
func checkVariables(text string) error {
	var unknown error
	err := eachPart(text, func(string) {}, func(name string) {
		if _, ok := (Vars{}).value(name); !ok && unknown == nil {
			unknown = fmt.Errorf("unknown variable %q: there are %s", "${"+name+"}", variables)
		}
	})
	if unknown != nil {
		return unknown
	}
	return err
}

// withoutVariables puts plain text in the place of variables.
func withoutVariables(text string) string {
	var b strings.Builder
	_ = eachPart(text, func(s string) { b.WriteString(s) }, func(string) { b.WriteString("x") }) // checked before
	return b.String()
}
