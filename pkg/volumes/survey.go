package volumes

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// machine is what a survey needs of the host view.
type machine interface {
	Host
	Bundles(ctx context.Context, state string) ([]hostview.Bundle, error)
	Spec(ctx context.Context, b hostview.Bundle) (hostview.Spec, error)
	InitPID(ctx context.Context, b hostview.Bundle) (int, error)
	Reread(ctx context.Context) (*hostview.Table, error)
	// options reads the host's table with the options of superblocks.
	options() (*hostview.Table, error)
	// prove answers whether the process is the container's, with its table;
	// alive is false where there is no such process (any more).
	prove(ctx context.Context, pid int, rootfs string) (answer facts.Answer, t *hostview.Table, alive bool)
}

// realMachine is the host view.
type realMachine struct{ *hostview.View }

func (v realMachine) prove(ctx context.Context, pid int, rootfs string) (facts.Answer, *hostview.Table, bool) {
	p, err := v.OpenProcess(pid)
	if err != nil {
		return facts.CannotTell(because(err)), nil, !errors.Is(err, syscall.ESRCH)
	}
	defer func() { _ = p.Close() }() // nothing can be lost
	answer, table := p.ProveTable(ctx, rootfs)
	return answer, table, p.Alive()
}

func (v realMachine) options() (*hostview.Table, error) {
	if v.Namespace().Truth != facts.Yes {
		return nil, errors.New("the options of overlays are not read in another mount namespace")
	}
	return v.ContainerTable(os.Getpid())
}

// surveyor makes one survey.
type surveyor struct {
	Node
	machine
}

// maxReaders bounds how many containers are read at a time. The kernel holds a
// lock of the whole node while it writes a mount table; more do not help.
const maxReaders = 4

// Survey maps all tasks of the node. What could not be read is in it as well;
// when ctx ends, so is what was not read yet.
func (n Node) Survey(ctx context.Context) Survey {
	if cache, ok := n.Devices.(*device.Cache); ok {
		n.Devices = cache.Moment()
	}
	return surveyor{n, realMachine{n.View}}.survey(ctx)
}

func (s surveyor) survey(ctx context.Context) Survey {
	bundles, whole, unknown := s.bundles(ctx)
	found := make([]*finding, len(bundles))
	next := make(chan int)
	var readers sync.WaitGroup
	for range min(maxReaders, runtime.GOMAXPROCS(0), len(bundles)) {
		readers.Go(func() {
			for i := range next {
				found[i] = s.member(ctx, bundles[i])
			}
		})
	}
	for i := range bundles {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	readers.Wait()
	return s.join(ctx, bundles, found, unknown, whole)
}

// join puts together what was read of the containers and the host's table,
// which is read after them.
func (s surveyor) join(ctx context.Context, bundles []hostview.Bundle, found []*finding, unknown []Unknown, whole bool) Survey {
	survey := Survey{Unknown: unknown}
	for i, f := range found {
		if f == nil {
			survey.unknown("container "+bundles[i].ID(), ctx.Err())
			whole = false
			continue
		}
		if f.gone {
			continue
		}
		survey.Members = append(survey.Members, f.Member)
		survey.Unknown = append(survey.Unknown, f.unknown...)
		whole = whole && f.named
	}
	slices.SortStableFunc(survey.Members, compareMembers)
	table, err := s.Reread(ctx)
	for i := range survey.Members {
		survey.Members[i].SetViews(table, err, s.KubeletRoot)
	}
	if err != nil {
		survey.unknown("the host's mount table", err)
		return survey
	}
	marker{s, table, sync.OnceValues(s.options), survey.Members, found, whole}.marks(ctx, &survey)
	return survey
}

func (s *Survey) unknown(what string, err error) {
	why := "not read"
	if err != nil {
		why = because(err)
	}
	s.Unknown = append(s.Unknown, Unknown{What: what, Why: why})
}

// bundles lists the containers of all state directories, and whether these are
// all. A directory that is reached by two names is taken once.
func (s surveyor) bundles(ctx context.Context) (all []hostview.Bundle, whole bool, unknown []Unknown) {
	known := map[string]bool{}
	for _, state := range s.States {
		at, err := s.Lookup(ctx, state)
		if err == nil && known[at.Canonical] {
			continue
		}
		known[at.Canonical] = true
		if err == nil {
			var bundles []hostview.Bundle
			bundles, err = s.Bundles(ctx, state)
			all = append(all, bundles...)
			whole = whole || err == nil
		}
		if err != nil && (at.Canonical == "" || !errors.Is(err, fs.ErrNotExist)) {
			unknown = append(unknown, Unknown{What: "containers below " + state, Why: because(err)})
		}
	}
	return all, whole && len(unknown) == 0, unknown
}

func compareMembers(a, b Member) int {
	x, y := a.Container, b.Container
	return cmp.Or(
		cmp.Compare(a.Namespace, b.Namespace),
		cmp.Compare(x.Pod.Namespace, y.Pod.Namespace),
		cmp.Compare(x.Pod.Name, y.Pod.Name),
		cmp.Compare(x.Name, y.Name),
		cmp.Compare(x.ID, y.ID),
		cmp.Compare(a.Bundle.Dir, b.Bundle.Dir),
	)
}
