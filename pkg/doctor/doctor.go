package doctor

import (
	"context"

	"github.com/mountward/mountward/pkg/discover"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

// Checks returns all examinations, in the order of those of their findings that
// nothing else puts in order.
func Checks() []Check {
	return []Check{
		{"kubelet", checkKubelet},
		{"propagation", checkPropagation},
		{"runtime configuration", checkRuntimeConfig},
		{"nri", checkNRI},
		{"doubling", checkDoubling},
		{"mount-max", checkMountMax},
		{"amplification", checkAmplification},
		{"orphans", checkOrphans},
		{"stale containers", checkStale},
		{KernelCheck, checkKernel},
		{"journal", checkJournal},
	}
}

// Report is what the checks found.
type Report struct {
	Kubelet discover.Kubelet
	Runtime discover.Runtime
	Places  []Place
	// Findings are problems first, the worst in front, then what cannot be told,
	// then what is sound.
	Findings []Finding
	// Unknown is what could not be read at all, for whatever check.
	Unknown []namespaces.Unknown
}

// Run runs the checks. What they read beyond the snapshot ends with ctx.
func Run(ctx context.Context, s *Snapshot, checks []Check) Report {
	s.Context = ctx
	r := Report{Kubelet: s.Kubelet, Runtime: s.Runtime, Places: s.Places, Unknown: s.Unknown}
	checks, skipped := s.askable(checks)
	if skipped {
		r.Findings = append(r.Findings, s.elsewhere())
	}
	for _, c := range checks {
		r.Findings = append(r.Findings, c.Run(s)...)
	}
	inOrder(r.Findings)
	return r
}

// Answer sums a report up: no where there is a problem, else unknown where
// anything could not be told, else yes.
func (r Report) Answer() facts.Truth {
	answer := facts.Yes
	if len(r.Unknown) > 0 {
		answer = facts.Unknown
	}
	for _, f := range r.Findings {
		switch f.Answer {
		case facts.No:
			return facts.No
		case facts.Unknown:
			answer = facts.Unknown
		case facts.Yes:
		}
	}
	return answer
}

// Exit is the exit code of the verb, which is node-problem-detector's: 0 sound,
// 1 a problem, 2 cannot tell.
func (r Report) Exit() int {
	switch r.Answer() {
	case facts.Yes:
		return 0
	case facts.No:
		return 1
	default:
		return 2
	}
}
