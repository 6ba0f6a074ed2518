package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// removed is what the kernel appends to the root of a mount that is no longer
// in its file system. No path has two slashes.
const removed = "//deleted"

// maxCandidates bounds what is tried for mounts that were not found.
const maxCandidates = 4096

// deniedNow decides once more, by what is really mounted, and returns the first
// mount that is denied. Asked about again are
//
//   - mounts that lead elsewhere than at creation, or to where it could not be
//     told then, by what is in their place;
//   - mounts that were not found, by everything that could be theirs;
//   - mounts that nobody asked for when we decided (other plugins, hooks), by
//     the rules about sources.
//
// A mount that is still what was decided about is not asked about again: that
// the host mounted something over its source meanwhile is no reason.
func (p *plugin) deniedNow(ctx context.Context, x *examination, force *inForce) *facts.Outcome {
	if !force.policy.Denies() {
		return nil
	}
	s := second{x: x, host: p.host}
	container := x.made(force)
	s.all = container.Privileged.Truth != x.entry.Container.Privileged.Truth
	s.ask(ctx)
	if len(s.questions) == 0 {
		return nil
	}
	env := x.judged(ctx, &container, force, true)
	for _, q := range s.questions {
		container.Mounts = append(container.Mounts, q.mount)
	}
	p.host.volumes(ctx, force.policy, &container, env.KubeletRoot)
	return s.answer(force.policy.Decide(container, env, false))
}

// question is one mount to decide about.
type question struct {
	mount facts.Mount
	kind  questionKind
	stray int // index in the rest, for candidate and stranger
}

type questionKind int

const (
	inPlace   questionKind = iota // an asked mount and what is in its place
	candidate                     // an asked mount that was not found, and what could be its
	stranger                      // a mount nobody asked for
)

// second is the second decision about one container.
type second struct {
	x         *examination
	host      *host
	all       bool // a fact about the container is another than at creation
	questions []question
}

func (s *second) ask(ctx context.Context) {
	var lost []facts.Mount
	for i, o := range s.x.entry.Outcomes {
		if !o.Mount.Bind() {
			continue
		}
		place, m := s.x.located.Places[i], o.Mount
		switch {
		case !place.Found:
			m.Host = nil
			lost = append(lost, m)
		case place.Moved || m.Host == nil:
			if strings.HasSuffix(place.Entry.Root, removed) {
				continue // a root that is gone has no path to judge by
			}
			m.Host, m.Actual = nil, place.Entry.Identity()
			s.questions = append(s.questions, question{mount: m})
		case s.all:
			m.Actual = place.Entry.Identity()
			s.questions = append(s.questions, question{mount: m})
		}
	}
	s.askLost(ctx, lost)
	for i, stray := range s.x.located.Rest {
		if stray.On < 0 {
			s.questions = append(s.questions, question{
				mount: facts.Mount{
					Destination: stray.Entry.MountPoint, Type: "bind", Options: []string{"rbind", facts.Private.Option()},
					Actual: stray.Entry.Identity(),
				},
				kind: stranger, stray: i,
			})
		}
	}
	for i := range s.questions {
		q := &s.questions[i]
		if q.kind == stranger || q.mount.Host != nil {
			continue
		}
		if m, err := s.host.view.Lookup(ctx, q.mount.Source); err == nil {
			q.mount.Host = &m
		}
	}
}

// askLost pairs the mounts that were not found with the mounts that could be
// theirs.
func (s *second) askLost(ctx context.Context, lost []facts.Mount) {
	if len(lost) == 0 {
		return
	}
	for _, m := range lost {
		s.x.found("mount-not-found", fmt.Sprintf("%s: no mount in the container is there, and none is what %s led to at creation", m.Destination, m.Source))
	}
	for i, stray := range s.x.located.Rest {
		if strings.HasSuffix(stray.Entry.Root, removed) || s.x.located.CameAlong(s.x.entry.Outcomes, stray, s.host.lookup(ctx)) {
			continue
		}
		for _, m := range lost {
			if len(s.questions) > maxCandidates {
				s.x.found("cannot-tell", "too many mounts could be those that were not found; the rest was not judged")
				return
			}
			m.Actual = stray.Entry.Identity()
			s.questions = append(s.questions, question{mount: m, kind: candidate, stray: i})
		}
	}
}

// answer returns the first mount that is denied. The default is no reason where
// a rule could not be judged. What could be one of several mounts is denied by
// default only if it can be none that is allowed.
func (s *second) answer(decisions []policy.Decision) *facts.Outcome {
	allowed := map[int]bool{}
	for i, d := range decisions {
		if q := s.questions[i]; q.kind == candidate && (d.Action != facts.ActionDeny || len(d.Unknown) > 0 && d.Rule == "") {
			allowed[q.stray] = true
		}
	}
	for i, d := range decisions {
		q := s.questions[i]
		if d.Action != facts.ActionDeny {
			if d.Unjudged != "" && q.kind == inPlace {
				s.x.found("cannot-tell", q.mount.Destination+": "+d.Unjudged)
			}
			continue
		}
		switch {
		case d.Rule == "" && len(d.Unknown) > 0:
			s.x.found("cannot-tell", q.mount.Destination+": "+d.Unknown[0])
			continue
		case q.kind == stranger && !d.BySource:
			continue
		case q.kind == candidate && d.Rule == "" && (allowed[q.stray] || s.x.located.RuntimeMade(s.x.entry.Outcomes, s.x.located.Rest[q.stray])):
			continue
		}
		return &facts.Outcome{
			Mount: q.mount, Asked: q.mount.Requested(), Action: facts.ActionDeny, Result: facts.Refused,
			Rule: d.Rule, Position: d.Position, Reason: d.Reason,
		}
	}
	return nil
}
