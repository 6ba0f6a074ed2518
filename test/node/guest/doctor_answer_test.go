//go:build linux

package guest

import (
	"fmt"
	"slices"
	"strings"
)

// doctorAnswer is what "mountward doctor -o json" prints, as far as it is
// tested.
type doctorAnswer struct {
	Schema  string
	Kubelet struct {
		PID        int
		Root, From string
	}
	Runtime struct {
		PID           int
		State, Config string
		Version       string
	}
	Containers int
	Findings   []finding
	Unknown    []struct{ What, Why string }
}

type finding struct {
	Code, Answer, Subject, Where, Message string
	Cause, Effect                         string
	Evidence                              []struct{ Text, Show string }
	Fixes                                 []fix
	Containers                            []string
}

type fix struct {
	What       string
	Commands   []string
	File       string
	Content    string
	Persistent bool
}

func (f finding) String() string {
	return fmt.Sprintf("%s %s %s in %s: %s; cause: %s; evidence: %v; fixes: %+v", f.Code, f.Answer, f.Subject, f.Where, f.Message, f.Cause, f.Evidence, f.Fixes)
}

// doctor examines the node.
func (s *stack) doctor(code int, args ...string) doctorAnswer {
	s.Helper()
	a := ask[doctorAnswer](s.T, code, append([]string{"doctor"}, args...)...)
	if a.Schema != "mountward.doctor/v1" {
		s.Errorf("schema %q", a.Schema)
	}
	return a
}

// sound wants a node of which everything is known, and nothing is wrong.
func (s *stack) sound(args ...string) doctorAnswer {
	s.Helper()
	a, code, stderr := tryAsk[doctorAnswer](s.T, append([]string{"doctor"}, args...)...)
	if code != exitSound || stderr != "" || len(a.Findings) == 0 {
		s.Errorf("exit code %d with %d findings: %s", code, len(a.Findings), stderr)
	}
	for _, f := range a.Findings {
		if f.Answer != "yes" {
			s.Errorf("on a sound node: %s", f)
		}
	}
	for _, u := range a.Unknown {
		s.Errorf("on a sound node cannot tell: %s: %s", u.What, u.Why)
	}
	return a
}

// problem is the finding with a code about a subject.
func (s *stack) problem(a doctorAnswer, code, subject string) finding {
	s.Helper()
	i := slices.IndexFunc(a.Findings, func(f finding) bool { return f.Code == code && f.Subject == subject && f.Answer == "no" })
	if i < 0 {
		s.Fatalf("no problem %s with %s: %v", code, subject, a.Findings)
	}
	f := a.Findings[i]
	if len(f.Evidence) == 0 || f.Cause == "" || f.Effect == "" || len(f.Fixes) == 0 {
		s.Errorf("no evidence, cause, effect or fix: %s", f)
	}
	return f
}

// mended does what a fix says, as it is printed: the file, then the commands.
// The file is removed with the test.
func (s *stack) mended(f finding, which func(fix) bool) {
	s.Helper()
	i := slices.IndexFunc(f.Fixes, which)
	if i < 0 {
		s.Fatalf("no such fix: %s", f)
	}
	if fix := f.Fixes[i]; fix.File != "" {
		s.Logf("%s:\n%s", fix.File, strings.TrimSpace(fix.Content))
		s.placed(fix.File, fix.Content)
	}
	shell(s.T, f.Fixes[i].Commands)
}
