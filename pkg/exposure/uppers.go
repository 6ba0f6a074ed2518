package exposure

import (
	"context"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/overlay"
	"github.com/mountward/mountward/pkg/volumes"
)

// Uppers asks the node by its view, and another mount namespace by a view that is
// open only for that. The name of an upper directory is that of the namespace
// that mounted the overlay: mostly the node's, also where only another has it
// now. wait is how long a file system is waited for there.
func Uppers(proc string, node *hostview.View, wait time.Duration) Overlays {
	return func(ctx context.Context, e hostview.Entry, path string, pid int) volumes.Upper {
		if pid == 0 {
			return volumes.FindUpper(ctx, node, e, path)
		}
		return upperInside(ctx, node, hostview.Options{Proc: proc, PID: pid, Wait: wait}, e, path)
	}
}

func upperInside(ctx context.Context, node *hostview.View, o hostview.Options, e hostview.Entry, path string) volumes.Upper {
	name := overlay.Parse(e.SuperOptions).Upper
	inside, err := hostview.Open(o)
	if err != nil {
		return volumes.Upper{Name: name, Verified: facts.CannotTell(err.Error())}
	}
	defer func() { _ = inside.Close() }() // nothing was written
	u := volumes.FindUpper(ctx, apart{inside, node, name}, e, path)
	if u.ByHandle && u.Verified.Truth == facts.Yes {
		return u
	}
	if own := volumes.FindUpper(ctx, inside, e, path); own.ByHandle && own.Verified.Truth == facts.Yes {
		return own
	}
	return u
}

// apart is a mount namespace whose overlay has an upper directory elsewhere.
type apart struct {
	*hostview.View
	node *hostview.View
	name string // of the upper directory, on the node
}

func (a apart) of(path string) *hostview.View {
	if path == a.name {
		return a.node
	}
	return a.View
}

// Lookup looks a path up where it is one of.
func (a apart) Lookup(ctx context.Context, path string) (facts.HostMount, error) {
	return a.of(path).Lookup(ctx, path)
}

// Statfs asks the file system of a path where it is one of.
func (a apart) Statfs(ctx context.Context, path string) (hostview.Statfs, error) {
	return a.of(path).Statfs(ctx, path)
}

// Btrfs asks the btrfs of a path where it is one of.
func (a apart) Btrfs(ctx context.Context, path string) (hostview.Btrfs, error) {
	return a.of(path).Btrfs(ctx, path)
}

// Handle asks the file system of a path where it is one of.
func (a apart) Handle(ctx context.Context, path string) (hostview.Handle, error) {
	return a.of(path).Handle(ctx, path)
}

// Sizes compares file systems as [Node.Differ] does.
func Sizes(node *hostview.View) func(ctx context.Context, at string, others []string) bool {
	return func(ctx context.Context, at string, others []string) bool {
		size, err := node.Statfs(ctx, at)
		if err != nil || size.Blocks == 0 || len(others) == 0 {
			return false
		}
		for _, other := range others {
			s, err := node.Statfs(ctx, other)
			if err != nil || s.Blocks == size.Blocks && s.BlockSize == size.BlockSize && s.Files == size.Files {
				return false
			}
		}
		return true
	}
}
