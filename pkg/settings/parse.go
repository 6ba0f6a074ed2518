package settings

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/internal/strict"
)

// Parse reads the text of mountward.toml; name is what its positions are
// reported with. The error names every mistake, one a line, each as
// "name:line:col: message".
//
// With an error the Settings are what could be read: a key that is wrong, or in
// a line that is no TOML, has its default, every other key what the text says.
// What the text asks to refuse stays asked: wherever on_policy_error stands
// with "deny", that holds.
func Parse(name string, data []byte) (Settings, error) {
	s := Default()
	document, err := strict.Decode(name, data, &s)
	if err != nil {
		s = Default()
		document = strict.Salvage(name, data, &s)
	}
	c := checker{document: document}
	errors.As(err, &c.errors) // a mistake in one key hides none in another
	c.check(&s)
	err = c.errors.Err()
	if err != nil && asksToDeny(data) {
		s.Guard.OnPolicyError = PolicyErrorDeny
	}
	return s, err
}

// checker puts the default back in place of every value that is wrong.
type checker struct {
	document *strict.Document
	errors   strict.Errors
}

func (c *checker) check(s *Settings) {
	d := Default()
	c.file(&s.Policy, d.Policy, "policy")
	c.file(&s.StateDir, d.StateDir, "state_dir")
	c.file(&s.RuntimeDir, d.RuntimeDir, "runtime_dir")
	if s.Audit.File != "" {
		c.file(&s.Audit.File, d.Audit.File, "audit", "file")
	}
	oneOf(c, &s.Audit.Decisions, d.Audit.Decisions, []Decisions{DecisionsChanged, DecisionsAll}, "audit", "decisions")
	oneOf(c, &s.Guard.OnPolicyError, d.Guard.OnPolicyError, []OnPolicyError{PolicyErrorAudit, PolicyErrorDeny}, "guard", "on_policy_error")
	oneOf(c, &s.Guard.OnUnmetRaise, d.Guard.OnUnmetRaise, []OnUnmet{UnmetLeave, UnmetDeny}, "guard", "on_unmet_raise")
	oneOf(c, &s.Guard.OnUnmetLower, d.Guard.OnUnmetLower, []OnUnmet{UnmetLeave, UnmetDeny}, "guard", "on_unmet_lower")
	oneOf(c, &s.Log.Level, d.Log.Level, []Level{LevelError, LevelWarning, LevelInfo, LevelDebug}, "log", "level")
	c.found(&s.Host.KubeletRoot, "host", "kubelet_root")
	c.found(&s.Host.RuntimeRoot, "host", "runtime_root")
	c.found(&s.Host.RuntimeState, "host", "runtime_state")
	c.list(&s.Host.RequireShared, "host", "require_shared")
}

func (c *checker) fail(message string, key ...any) {
	var name strings.Builder
	for i, step := range key {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&name, "[%d]", step)
		default:
			if i > 0 {
				name.WriteByte('.')
			}
			fmt.Fprint(&name, step)
		}
	}
	message = fmt.Sprintf("%q: %s", name.String(), message)
	c.errors = append(c.errors, strict.Error{Position: c.document.At(key...), Message: message})
}

// file checks a path of our own; it cannot be the root of the machine.
func (c *checker) file(p *string, otherwise string, key ...any) {
	if *p == "/" {
		c.fail(`want a path below "/"`, key...)
		*p = otherwise
		return
	}
	if !c.path(*p, "", key...) {
		*p = otherwise
	}
}

// found checks a path that may be found out on the machine.
func (c *checker) found(p *string, key ...any) {
	if *p != Auto && !c.path(*p, ` or "auto"`, key...) {
		*p = Auto
	}
}

// list checks a list of paths and leaves out those that are wrong.
func (c *checker) list(paths *[]string, key ...any) {
	var good []string
	for i, p := range *paths {
		at := append(slices.Clone(key), i)
		switch {
		case !c.path(p, "", at...):
		case slices.Contains(good, p):
			c.fail(fmt.Sprintf("%q is listed twice", p), at...)
		default:
			good = append(good, p)
		}
	}
	*paths = good
}

func (c *checker) path(p, or string, key ...any) (good bool) {
	switch {
	case !path.IsAbs(p):
		c.fail(fmt.Sprintf("want an absolute path%s, found %q", or, p), key...)
	case path.Clean(p) != p:
		c.fail(fmt.Sprintf("want a clean path%s, found %q; write %q", or, p, path.Clean(p)), key...)
	case strings.ContainsRune(p, 0):
		c.fail(fmt.Sprintf("want a path%s, found %q: no path holds a NUL", or, p), key...)
	default:
		return true
	}
	return false
}

func oneOf[T ~string](c *checker, value *T, otherwise T, want []T, key ...any) {
	if slices.Contains(want, *value) {
		return
	}
	words := make([]string, len(want))
	for i, w := range want {
		words[i] = fmt.Sprintf("%q", string(w))
	}
	last := len(words) - 1
	c.fail(fmt.Sprintf("want %s or %s, found %q", strings.Join(words[:last], ", "), words[last], string(*value)), key...)
	*value = otherwise
}
