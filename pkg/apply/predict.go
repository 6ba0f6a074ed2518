package apply

import (
	"context"
	"fmt"
	"path"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// MountTable is the runtime's mount table as NRI's own check reads it.
type MountTable interface {
	// First returns the first entry listed with exactly this mount point: of
	// stacked mounts the hidden bottom one.
	First(mountPoint string) (hostview.Entry, bool)
	// Recheck returns the entry with the propagation it has now: a table is
	// not told when only that changes.
	Recheck(entry hostview.Entry) (hostview.Entry, error)
}

// RuntimeTable returns what Request.Table is for a view of the runtime.
func RuntimeTable(ctx context.Context, view *hostview.View) func() (MountTable, error) {
	return func() (MountTable, error) {
		t, err := view.Table(ctx)
		if err != nil {
			return nil, err
		}
		return runtimeTable{t, view, ctx}, nil
	}
}

type runtimeTable struct {
	*hostview.Table
	view *hostview.View
	ctx  context.Context
}

// Recheck reads the propagation of an entry anew.
func (t runtimeTable) Recheck(e hostview.Entry) (hostview.Entry, error) {
	return t.view.Recheck(t.ctx, e)
}

// predict tells what the runtime's NRI code will find when it checks a mount
// it is asked to set, with its rules and not with the kernel's: the mount
// point that is the longest string prefix of the cleaned source, symbolic
// links not resolved, components not regarded, the first of stacked mounts. A
// raise it would refuse fails the whole container, so it must never be sent.
// Source: nri v0.12.3 pkg/runtime-tools/generate/helpers_linux.go,
// moby/sys/mountinfo ParentsFilter.
func predict(table MountTable, source string) (hostview.Entry, bool) {
	clean := path.Clean(source)
	for end := len(clean); end > 0; end-- {
		if entry, ok := table.First(clean[:end]); ok {
			return entry, true
		}
	}
	return hostview.Entry{}, false
}

// accepts reports whether a mount in this state may be given the propagation,
// by the runtime's rule.
func accepts(state facts.MountState, p facts.Propagation) bool {
	switch p {
	case facts.Shared:
		return state.Shared()
	case facts.Slave:
		return state.Receives()
	default:
		return true
	}
}

// unable says why the mount cannot give the propagation, and the cure.
func unable(mountPoint string, state facts.MountState, p facts.Propagation) string {
	if p == facts.Shared && state.Master != 0 {
		return fmt.Sprintf("its host mount %s is %s and sends nothing up; share it where it comes from", mountPoint, state)
	}
	return fmt.Sprintf("its host mount %s is %s; run: mount --make-rshared %s", mountPoint, state, mountPoint)
}
