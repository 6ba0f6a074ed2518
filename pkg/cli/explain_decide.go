package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/manifest"
	"github.com/mountward/mountward/pkg/policy"
)

// explain decides about one container and tells all of it.
func (j judge) explain(ctx context.Context, s manifest.Subject) show.Explained {
	pinned := nameImage(&s)
	j.resolve(ctx, &s)
	j.volumes(ctx, &s)
	static := s.Container.Pod.Static()
	request := j.request(ctx, static.Truth == facts.Yes)
	plan, decisions := apply.Judge(j.policy, &s.Container, j.env, request, true)
	e := show.Explained{
		From: s.From, Kind: s.Kind, Container: audit.ContainerOf(s.Container), Static: static, Verdict: show.VerdictAllow,
		Hazards: plan.Hazards, Findings: plan.Findings, Unknown: slices.Concat(s.Unknown, j.unseen(s)),
		Before: apply.Specification{Mounts: s.Container.Mounts, RootfsPropagation: s.RootfsPropagation},
	}
	if plan.Refusal != nil {
		e.Refusal = plan.Refusal.Error()
	}
	var err error
	if e.After, err = apply.After(e.Before, plan.Adjustment, j.checked); err != nil {
		e.After, e.AfterWhy = e.Before, err.Error()
	}
	doubts := j.doubts(ctx, s, pinned, plan, decisions)
	for i, o := range plan.Outcomes {
		m := show.ExplainedMount{
			Outcome: o, Decision: decisions[i], Doubts: doubts[i], Possible: j.possible(o),
			MadeBy: s.Notes[i].MadeBy, Volume: s.Notes[i].Volume, Note: s.Notes[i].Unknown,
		}
		if decisions[i].Judged {
			m.Untried = len(j.policy.Rules) - len(decisions[i].Trace)
		}
		m.NotRefused = static.Truth == facts.Yes && o.Result == facts.Left && (o.Action == facts.ActionDeny || strings.HasPrefix(o.Reason, apply.NeverRefused))
		m.Verdict = verdict(m)
		e.Mounts = append(e.Mounts, m)
	}
	e.Verdict = worst(e.Mounts)
	return e
}

// possible answers whether what was decided can come true here.
func (j judge) possible(o facts.Outcome) facts.Answer {
	if o.Result == facts.Refused && j.policy.Mode == policy.ModeAudit {
		return facts.Is(false, "the container would be refused")
	}
	if j.host == nil && o.Result != facts.Refused && o.Decided.Reach() > facts.Private.Reach() && o.Decided != facts.Unset {
		return facts.CannotTell(o.Mount.HostWhy + "; it takes a shared host mount")
	}
	return apply.Possible(o)
}

// verdict is what is decided about a mount. It is unknown where another fact would
// change it.
func verdict(m show.ExplainedMount) string {
	switch {
	case len(m.Doubts) > 0:
		return show.VerdictUnknown
	case m.NotRefused:
		return show.VerdictAllow
	case m.Action == facts.ActionDeny, m.Result == facts.Refused:
		return show.VerdictDeny
	case m.Action == facts.ActionSet:
		return show.VerdictSet
	default:
		return show.VerdictAllow
	}
}

// worst is the verdict about a container: one mount that is surely denied is
// enough, whatever is not known of the others.
func worst(mounts []show.ExplainedMount) string {
	for _, v := range []string{show.VerdictDeny, show.VerdictUnknown, show.VerdictSet} {
		if slices.ContainsFunc(mounts, func(m show.ExplainedMount) bool { return m.Verdict == v }) {
			return v
		}
	}
	return show.VerdictAllow
}

// doubts returns what each verdict rests on that is not known and could change it.
func (j judge) doubts(ctx context.Context, s manifest.Subject, pinned facts.Image, plan apply.Plan, decisions []policy.Decision) [][]string {
	all := make([][]string, len(decisions))
	for i, d := range decisions {
		all[i] = append(j.untold(s.Missing, pinned, d), uncertain(d)...)
		all[i] = append(all[i], j.unresolved(s.Notes[i], s.Container.Mounts[i], d)...)
		if doubt := j.others(ctx, s, i, d); doubt != "" {
			all[i] = append(all[i], doubt)
		}
	}
	if j.host != nil {
		return all
	}
	for i, doubt := range j.unshared(ctx, s, plan) {
		all[i] = append(all[i], doubt)
	}
	return all
}

// uncertain lists the rules that could not be judged and decide otherwise than
// what was decided without them.
func uncertain(d policy.Decision) (all []string) {
	for _, step := range d.Trace {
		if step.Matched == facts.Unknown && decides(step) && (step.Action != d.Action || step.Rule == d.Rule || step.Action == facts.ActionSet) {
			all = append(all, fmt.Sprintf("rule %q: %s: %s", step.Rule, step.Selector, step.Why))
		}
	}
	return all
}

// decides reports a rule that ends the search where it matches.
func decides(step policy.Step) bool { return step.Action != facts.ActionAudit && !step.Audit }

// untold lists the rules that ask for what is not known at all. One that fails by
// something else fails surely.
func (j judge) untold(missing []string, pinned facts.Image, d policy.Decision) (all []string) {
	for i, step := range d.Trace {
		if !decides(step) || step.Matched == facts.No && !slices.Contains(missing, policy.KeyOf(step.Selector)) {
			continue
		}
		for _, key := range missing {
			if j.policy.Rules[i].Asks(key) && (key != keyImage || images(j.policy.Rules[i], pinned)) {
				all = append(all, fmt.Sprintf("rule %q asks for %s, which is not known here", step.Rule, key))
			}
		}
	}
	return all
}

// others decides about what the mount may be as well, and tells where that is
// decided otherwise.
func (j judge) others(ctx context.Context, s manifest.Subject, i int, d policy.Decision) string {
	for _, other := range s.Notes[i].Others {
		c := s.Container
		c.Mounts = slices.Clone(c.Mounts)
		other.HostWhy, other.Volume = c.Mounts[i].HostWhy, c.Mounts[i].Volume
		c.Mounts[i] = other
		_, decisions := apply.Judge(j.policy, &c, j.env, j.request(ctx, false), false)
		if got := decisions[i]; got.Action != d.Action || got.Propagation != d.Propagation {
			return fmt.Sprintf("%s; as %s %s it would be: %s", s.Notes[i].Unknown, other.Source, strings.Join(other.Options, ","), got.Action)
		}
	}
	return ""
}

// unshared plans for a host with nothing shared, and tells what would be refused
// there and is not where all is shared.
func (j judge) unshared(ctx context.Context, s manifest.Subject, plan apply.Plan) map[int]string {
	request := j.request(ctx, s.Container.Pod.Static().Truth == facts.Yes)
	request.Table = func() (apply.MountTable, error) { return assumed{}, nil }
	c := s.Container
	private, _ := apply.Judge(j.policy, &c, j.env, request, false)
	doubts := map[int]string{}
	for i, o := range private.Outcomes {
		if o.Result == facts.Refused && plan.Outcomes[i].Result != facts.Refused {
			doubts[i] = "it is refused where its host mount is not shared, and the host was not looked at"
		}
	}
	return doubts
}
