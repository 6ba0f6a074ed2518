package pins

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/target"
)

// maxHolders bounds the holders that are listed of one target: every process of
// a node holds its root file system.
const maxHolders = 1024

// Find finds what holds a target.
func Find(ctx context.Context, n Node, t target.Target) Report {
	return FindAll(ctx, n, []target.Target{t})[0]
}

// FindAll finds what holds each of the targets, in one pass over the mount
// namespaces and one over the processes. The reports are in the order of the
// targets. When ctx ends, so is what was not looked at yet.
func FindAll(ctx context.Context, n Node, targets []target.Target) []Report {
	if len(targets) == 0 {
		return nil
	}
	if n.Stat == nil {
		n.Stat = statMagic
	}
	if n.Inside == nil {
		n.Inside = openInside
	}
	if n.Again == 0 {
		n.Again = 200 * time.Millisecond
	}
	s := &search{Node: n, ctx: ctx, want: want(targets), reports: make([]Report, len(targets)), mounts: newMounts(), looked: map[string]lookup{}, supers: map[target.Superblock]facts.Answer{}, ourNumbers: ourNumbers(n.Proc)}
	for i := range targets {
		s.reports[i] = Report{Target: targets[i], Holders: []Holder{}, Unknown: []namespaces.Unknown{}}
		if why := targets[i].Why; why != "" {
			s.unknown(i, "target "+targets[i].Name, why)
		}
		s.reports[i].Notes = slices.Clone(targets[i].Notes)
	}
	if s.wantsBtrfs() {
		s.mounts.ids = map[int]bool{}
	}
	s.people()
	s.devices()
	s.namespaces()
	s.layers()
	s.loops()
	s.processes()
	s.services()
	for i := range s.reports {
		s.conclude(i)
	}
	return s.reports
}

// search is one pass.
type search struct {
	Node
	ctx     context.Context
	want    wanted
	reports []Report

	byPID map[int]namespaces.Process
	pods  map[string]bool // uids of the pods that are there
	home  *hostview.Table // the host's mount table; nil where it could not be read

	mounts    mounts
	sightings []sighting
	looked    map[string]lookup // of the host
	supers    map[target.Superblock]facts.Answer
	entered   time.Duration // how long mount namespaces were looked into
	stack     *target.Stack
	late      late
	// ourNumbers: the processes have the numbers of our own pid namespace.
	ourNumbers bool
}

// people notes who is there.
func (s *search) people() {
	s.byPID, s.pods = map[int]namespaces.Process{}, map[string]bool{}
	for _, p := range s.Census.Processes {
		if p.Thread == 0 {
			s.byPID[p.PID] = p
		}
		if p.Owner.PodUID != "" {
			s.pods[p.Owner.PodUID] = true
		}
	}
	for _, p := range s.Census.Processes { // a thread that is alone in a namespace
		if p.Thread != 0 {
			s.byPID[p.Thread] = p
		}
	}
	for _, t := range s.Tasks {
		s.pods[t.Container.Pod.UID] = true
	}
	delete(s.pods, "")
	for _, u := range s.Census.Unknown {
		s.unknownToAll(u.What, u.Why)
	}
}

// podGone answers whether a pod has no container on the node.
func (s *search) podGone(uid string) facts.Answer {
	switch {
	case s.pods[uid]:
		return facts.Is(false, "")
	case s.TasksWhy != "":
		return facts.CannotTell(s.TasksWhy)
	default:
		return facts.Is(true, "no container of the pod is on the node")
	}
}

func (s *search) add(target int, h Holder) {
	r := &s.reports[target]
	if len(r.Holders) >= maxHolders {
		r.Omitted++
		return
	}
	r.Holders = append(r.Holders, h)
}

func (s *search) unknown(target int, what, why string) {
	s.reports[target].Unknown = append(s.reports[target].Unknown, namespaces.Unknown{What: what, Why: why})
}

func (s *search) unknownToAll(what, why string) {
	for i := range s.reports {
		s.unknown(i, what, why)
	}
}

func (s *search) searched(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for i := range s.reports {
		s.reports[i].Searched = append(s.reports[i].Searched, text)
	}
}
