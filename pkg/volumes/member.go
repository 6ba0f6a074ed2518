package volumes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/verify"
)

// cri is the namespace of containerd in which CRI's containers are.
const cri = "k8s.io"

// finding is a member with what only the survey needs of it.
type finding struct {
	Member
	unknown []Unknown
	gone    bool // removed while it was looked at
	named   bool // its pod is known
	running bool // it has a process that is its own
	// blocks are the file systems in the container's own table that are on
	// block devices, each by one mount.
	blocks []hostview.Entry
}

func (f *finding) cannot(why string) {
	f.unknown = append(f.unknown, Unknown{What: "container " + f.Container.ID, Why: why})
}

// member reads one container.
func (s surveyor) member(ctx context.Context, b hostview.Bundle) *finding {
	f := &finding{Member: Member{Namespace: b.Namespace(), Bundle: b, Container: facts.Container{ID: b.ID()}}}
	spec, err := s.Spec(ctx, b)
	switch {
	case err == nil:
		f.Container, f.Sandbox = spec.Container(b), spec.Sandbox()
		f.named = true
	case s.removed(ctx, b):
		f.gone = true
		return f
	default:
		f.cannot(because(err))
	}
	lookup := verify.Answers{}.By(func(path string) (facts.HostMount, error) { return s.Lookup(ctx, path) })
	s.outcomes(f, lookup)
	s.process(ctx, f, lookup)
	return f
}

// removed reports that the runtime has removed a container since it was listed.
func (s surveyor) removed(ctx context.Context, b hostview.Bundle) bool {
	_, err := s.Lookup(ctx, b.Dir)
	return errors.Is(err, fs.ErrNotExist)
}

// outcomes takes what was decided about the container, else what its
// specification asks for: that claims nothing.
func (s surveyor) outcomes(f *finding, lookup verify.Lookup) {
	if f.Namespace == cri {
		f.KnownWhy = s.DecidedWhy
	}
	if s.Decided != nil && f.Namespace == cri {
		d, known, err := s.Decided(f.Container.ID)
		if err != nil {
			f.KnownWhy = because(err)
			f.cannot("what was decided: " + f.KnownWhy)
		}
		if known && err == nil {
			f.Known, f.Outcomes = true, d.Outcomes
			f.Container = complete(f.Container, d.Container)
			f.named = f.named || d.Container.Pod.UID != ""
			return
		}
	}
	for _, m := range f.Container.Mounts {
		if m.Bind() {
			if host, err := lookup(m.Source); err == nil {
				m.Host = &host
			} else {
				m.HostWhy = because(err)
			}
		}
		f.Outcomes = append(f.Outcomes, facts.Outcome{Mount: m, Asked: m.Requested(), Result: facts.Unchanged})
	}
}

// complete adds what was known at creation to what the specification says.
func complete(c, created facts.Container) facts.Container {
	c.Name, c.Image = cmp.Or(c.Name, created.Name), cmp.Or(c.Image, created.Image)
	c.Labels, c.Role = created.Labels, created.Role
	p := &c.Pod
	p.ID, p.Namespace = cmp.Or(p.ID, created.Pod.ID), cmp.Or(p.Namespace, created.Pod.Namespace)
	p.Name, p.UID = cmp.Or(p.Name, created.Pod.Name), cmp.Or(p.UID, created.Pod.UID)
	p.Labels, p.Annotations, p.Runtime = created.Pod.Labels, created.Pod.Annotations, created.Pod.Runtime
	return c
}

// process finds the container's process, proves it and maps what it has.
func (s surveyor) process(ctx context.Context, f *finding, lookup verify.Lookup) {
	pid, err := s.InitPID(ctx, f.Bundle)
	if errors.Is(err, fs.ErrNotExist) {
		s.ended(ctx, f, lookup, "it has no process")
		return
	}
	if err != nil {
		f.Identity = facts.CannotTell(because(err))
		f.Task = Unmapped(0, f.Identity.Why)
		f.cannot(f.Identity.Why)
		return
	}
	answer, table, alive := s.prove(ctx, pid, f.Bundle.Rootfs())
	f.Identity = answer
	switch {
	case answer.Truth == facts.Yes:
		f.running = true
		find := verify.LocateUnknown
		if f.Known {
			find = verify.Locate
		}
		located := find(f.Outcomes, table)
		f.Proofs = verify.Mounts(f.Outcomes, located, lookup)
		f.Task = Map(ctx, s.sources(f, lookup, table, located), pid, f.Bundle.Rootfs())
		f.blocks = blocks(table)
	case answer.Truth == facts.Unknown && !alive:
		s.ended(ctx, f, lookup, fmt.Sprintf("its process %d is gone", pid))
	default:
		f.Task = Unmapped(pid, answer.Why)
		f.cannot(answer.Why)
	}
}

// ended tells of a task without a process what the specification says.
func (s surveyor) ended(ctx context.Context, f *finding, lookup verify.Lookup, why string) {
	f.Identity, f.Ended = facts.CannotTell(why), true
	f.Task = Unmapped(0, why)
	f.Rootfs.Path = f.Bundle.Rootfs()
	m := newMapper(s.sources(f, lookup, nil, verify.Located{}))
	for _, o := range f.Outcomes {
		if !o.Mount.Bind() {
			continue
		}
		t := Mount{
			Destination: o.Mount.Destination, Source: o.Mount.Source, Asked: o.Asked, Decided: o.Expected(),
			Backing: Backing{NoLV: cannotTell + why},
		}
		m.name(ctx, &t, o.Mount, facts.HostMount{})
		f.Mounts = append(f.Mounts, t)
	}
}

func (s surveyor) sources(f *finding, lookup verify.Lookup, table *hostview.Table, located verify.Located) Sources {
	return Sources{
		Outcomes: f.Outcomes, Container: table, Located: located, Lookup: lookup, Host: s.machine, Devices: s.Devices,
		KubeletRoot: s.KubeletRoot, RuntimeDirs: append([]string{s.RuntimeRoot}, s.States...),
		Raw: f.Container.Devices, PodUID: f.Container.Pod.UID, Whole: true,
	}
}
