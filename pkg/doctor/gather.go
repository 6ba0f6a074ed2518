package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/mountward/mountward/pkg/discover"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/settings"
)

// Machine is the node as Gather reads it. A directory of text files is one too.
type Machine struct {
	Proc, Sys string
	User      int // who asks, see [discover.Node]
	Host      settings.Host
	// States are further state directories of containerd, beside those that
	// are found.
	States []string
	// Open opens the files of the mount namespace that a process is in. Where
	// they are namespaces.Bundles as well, the containers are listed from them.
	Open func(pid int) (Files, io.Closer, error)
	// Tasks are the containers where they are known already; nil: they are
	// listed.
	Tasks []namespaces.Task
	Now   time.Time
}

// Gather reads the node once. What could not be read is in the snapshot's
// Unknown; an error says that nothing could be, for there is no table of process
// 1 and of no other process that matters. Close the snapshot.
func Gather(ctx context.Context, m Machine) (*Snapshot, error) {
	g := gatherer{Machine: m, tables: map[string]tableRead{}, files: map[string]filesOpened{}}
	g.s = &Snapshot{Context: ctx, Proc: m.Proc, Sys: m.Sys, Now: m.Now, Tasks: m.Tasks}
	if files, err := g.open(1); err != nil {
		g.unknown("the files of process 1", err.Error())
	} else {
		g.s.Files = files
	}
	g.discover(ctx)
	if m.Tasks == nil {
		g.listTasks(ctx)
	}
	census, err := namespaces.Take(ctx, namespaces.Options{Proc: m.Proc, Tasks: g.s.Tasks})
	if err != nil {
		g.unknown("the mount namespaces of the node", err.Error())
	} else if census != nil {
		g.s.Census = census
		g.s.Unknown = append(g.s.Unknown, g.outside(census.Unknown)...)
	}
	g.places()
	g.require()
	if !slices.ContainsFunc(g.s.Places, func(p Place) bool { return p.Table != nil }) {
		return nil, errors.Join(fmt.Errorf("read mount tables below %s: %s", m.Proc, g.s.Places[0].Why), g.s.Close())
	}
	return g.s, nil
}

// Close gives back what the files are read with.
func (s *Snapshot) Close() error {
	var errs []error
	for _, c := range s.closers {
		errs = append(errs, c.Close())
	}
	s.closers = nil
	return errors.Join(errs...)
}

type gatherer struct {
	Machine
	s *Snapshot
	// By mount namespace, or by process where that is not known.
	tables map[string]tableRead
	files  map[string]filesOpened
}

type tableRead struct {
	table *hostview.Table
	err   error
}

type filesOpened struct {
	files Files
	err   error
}

func (g *gatherer) unknown(what, why string) {
	u := namespaces.Unknown{What: what, Why: why}
	if !slices.Contains(g.s.Unknown, u) {
		g.s.Unknown = append(g.s.Unknown, u)
	}
}

func (g *gatherer) discover(ctx context.Context) {
	auto := func(path string) string {
		if path == settings.Auto {
			return ""
		}
		return path
	}
	node := discover.Node{
		Proc:  g.Proc,
		User:  g.User,
		Files: func(pid int) (discover.Files, error) { return g.open(pid) },
		Table: g.table,
	}
	g.s.Kubelet, g.s.Runtime = discover.Find(ctx, node, discover.Settings{
		KubeletRoot: auto(g.Host.KubeletRoot), RuntimeRoot: auto(g.Host.RuntimeRoot), RuntimeState: auto(g.Host.RuntimeState),
	})
	if why := g.s.Kubelet.Why; why != "" {
		g.unknown("the kubelet", why)
	}
	if why := g.s.Runtime.Why; why != "" && why != g.s.Kubelet.Why {
		g.unknown("the runtime", why)
	}
}

// listTasks lists the containers from the bundles below every state directory
// that is known.
func (g *gatherer) listTasks(ctx context.Context) {
	r := g.s.Runtime
	if r.Name != discover.Containerd {
		return
	}
	states := slices.Clone(g.States)
	for _, source := range append([]discover.Source{r.Chosen}, r.Sources...) {
		if source.Value != "" && !slices.Contains(states, source.Value) {
			states = append(states, source.Value)
		}
	}
	files, err := g.open(max(1, r.PID, r.Shim))
	if err != nil {
		g.unknown("the containers", err.Error())
		return
	}
	bundles, ok := files.(namespaces.Bundles)
	if !ok {
		return
	}
	tasks, unknown := namespaces.Tasks(ctx, bundles, states)
	g.s.Tasks, g.s.Unknown = tasks, append(g.s.Unknown, unknown...)
}
