package settings

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/internal/strict"
)

// Parse reads the text of mountward.toml; name is what its positions are
// reported with. The error names every mistake, one a line, each as
// "name:line:col: message", and the Settings are then Default.
func Parse(name string, data []byte) (Settings, error) {
	s := Default()
	document, err := strict.Decode(name, data, &s)
	if err != nil {
		return Default(), err
	}
	c := checker{document: document}
	c.file(s.Policy, "policy")
	c.file(s.StateDir, "state_dir")
	c.file(s.RuntimeDir, "runtime_dir")
	if s.Audit.File != "" {
		c.file(s.Audit.File, "audit", "file")
	}
	oneOf(&c, s.Audit.Decisions, []Decisions{DecisionsChanged, DecisionsAll}, "audit", "decisions")
	oneOf(&c, s.Guard.OnPolicyError, []OnPolicyError{PolicyErrorAudit, PolicyErrorDeny}, "guard", "on_policy_error")
	oneOf(&c, s.Guard.OnUnmetRaise, []OnUnmet{UnmetLeave, UnmetDeny}, "guard", "on_unmet_raise")
	oneOf(&c, s.Guard.OnUnmetLower, []OnUnmet{UnmetLeave, UnmetDeny}, "guard", "on_unmet_lower")
	oneOf(&c, s.Log.Level, []Level{LevelError, LevelWarning, LevelInfo, LevelDebug}, "log", "level")
	c.found(s.Host.KubeletRoot, "host", "kubelet_root")
	c.found(s.Host.RuntimeRoot, "host", "runtime_root")
	c.found(s.Host.RuntimeState, "host", "runtime_state")
	for i, p := range s.Host.RequireShared {
		c.path(p, "", "host", "require_shared", i)
		if slices.Contains(s.Host.RequireShared[:i], p) {
			c.fail(fmt.Sprintf("%q is listed twice", p), "host", "require_shared", i)
		}
	}
	if err := c.errors.Err(); err != nil {
		return Default(), err
	}
	if len(s.Host.RequireShared) == 0 {
		s.Host.RequireShared = nil
	}
	return s, nil
}

type checker struct {
	document *strict.Document
	errors   strict.Errors
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
func (c *checker) file(p string, key ...any) {
	if p == "/" {
		c.fail(`want a path below "/"`, key...)
		return
	}
	c.path(p, "", key...)
}

// found checks a path that may be found out on the machine.
func (c *checker) found(p string, key ...any) {
	if p != Auto {
		c.path(p, ` or "auto"`, key...)
	}
}

func (c *checker) path(p, or string, key ...any) {
	switch {
	case !path.IsAbs(p):
		c.fail(fmt.Sprintf("want an absolute path%s, found %q", or, p), key...)
	case path.Clean(p) != p:
		c.fail(fmt.Sprintf("want a clean path%s, found %q; write %q", or, p, path.Clean(p)), key...)
	case strings.ContainsRune(p, 0):
		c.fail(fmt.Sprintf("want a path%s, found %q: no path holds a NUL", or, p), key...)
	}
}

func oneOf[T ~string](c *checker, value T, want []T, key ...any) {
	if slices.Contains(want, value) {
		return
	}
	words := make([]string, len(want))
	for i, w := range want {
		words[i] = fmt.Sprintf("%q", string(w))
	}
	last := len(words) - 1
	c.fail(fmt.Sprintf("want %s or %s, found %q", strings.Join(words[:last], ", "), words[last], string(value)), key...)
}
