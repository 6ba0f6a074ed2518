package lint

import (
	"fmt"
	"path"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/strict"
	"github.com/mountward/mountward/pkg/policy"
)

// Options is what is known of the node that the policy is for.
type Options struct {
	Vars policy.Vars // what is no absolute path is taken to be as installed by default
	NRI  string      // version that the runtime was built with, such as "0.12.3"; "" where not known
	// Skipped are files beside the drop-ins that are not read for their names.
	Skipped []string

	work int // steps of comparing rules; 0 is mostWork
}

// Finding is one thing that is perhaps not meant.
type Finding struct {
	Code    facts.LintCode `json:"code"`
	File    string         `json:"file"`
	Line    int            `json:"line"`
	Column  int            `json:"column"` // in bytes, from 1
	Rule    string         `json:"rule,omitempty"`
	Message string         `json:"message"` // names the fix
}

// String returns "file:line:col: code: message".
func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: %s", strict.Position{File: f.File, Line: f.Line, Column: f.Column}, f.Code, f.Message)
}

// Check returns the findings that the policy does not silence, in the order of
// its rules.
func Check(p *policy.Policy, o Options) []Finding {
	l := &linter{policy: p, options: o, vars: defaults(o.Vars), memory: newMemory(o.work), lastOther: -1}
	for i := range p.Rules {
		l.rules = append(l.rules, rule{Rule: &p.Rules[i], Written: p.Rules[i].Written(), index: i})
		if p.Rules[i].Action != facts.ActionAllow {
			l.lastOther = i
		}
	}
	l.makeIndex()
	l.everyPod()
	for i := range l.rules {
		l.check(&l.rules[i])
		if l.memory.spent() && l.ended == nil {
			l.ended = &l.rules[i]
		}
	}
	l.notCompared()
	l.skipped()
	return l.silence()
}

// linter collects findings.
type linter struct {
	policy  *policy.Policy
	options Options
	vars    policy.Vars
	rules   []rule
	found   []found
	memory  *memory
	index   index
	ended   *rule // the first that was not compared with all

	lastOther int // the last rule that does not only allow
}

// rule is a rule of the policy with what stands in the file.
type rule struct {
	*policy.Rule
	policy.Written
	index int
	dead  bool // decides nothing
	// spelled is set where it decides nothing by the spelling of its paths.
	spelled bool
}

type found struct {
	Finding
	rule *rule // nil for the policy as a whole
}

func (l *linter) check(r *rule) {
	if r.dead = l.shadowed(r); r.dead {
		return // all else that is wrong with it has no effect
	}
	for _, check := range []func(*rule){
		l.globs, l.neverMatches, l.noSuchFact, l.inDoubt, l.raises, l.lowers, l.tenants, l.hazards, l.noReason, l.noEffect,
		l.wayAround, l.partly,
	} {
		check(r)
	}
}

func (l *linter) report(code facts.LintCode, r *rule, at strict.Position, format string, args ...any) {
	f := Finding{Code: code, File: at.File, Line: at.Line, Column: at.Column, Message: fmt.Sprintf(format, args...)}
	if r != nil {
		f.Rule = r.Name
	}
	l.found = append(l.found, found{f, r})
}

// key returns the first key of a list with a name.
func key(keys []policy.Key, name string) (policy.Key, bool) {
	for _, k := range keys {
		if k.Name == name {
			return k, true
		}
	}
	return policy.Key{}, false
}

// wants reports whether a list asks for a fact to be true.
func wants(keys []policy.Key, name string) bool {
	k, ok := key(keys, name)
	return ok && slices.Equal(k.Values, []string{"true"})
}

// lets reports whether a rule lets a mount be, with or without a change.
func lets(a facts.Action) bool { return a == facts.ActionAllow || a == facts.ActionSet }

// decides reports whether a rule ends the search where it matches.
func (r *rule) decides() bool { return r.Action != facts.ActionAudit && !r.Audit }

// place is where a rule is, for messages.
func (r *rule) place() string { return fmt.Sprintf("rule %q (%s)", r.Name, r.Position) }

func defaults(v policy.Vars) policy.Vars {
	set := func(value *string, usual string) {
		if !path.IsAbs(*value) {
			*value = usual
		}
	}
	set(&v.KubeletRoot, "/var/lib/kubelet")
	set(&v.RuntimeState, "/run/containerd")
	set(&v.RuntimeRoot, "/var/lib/containerd")
	return v
}
