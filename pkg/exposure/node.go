package exposure

import (
	"context"
	"slices"
	"time"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

// Census is what is needed of a [namespaces.Census].
type Census interface {
	Members(n *namespaces.Namespace) []namespaces.Process
	Table(ctx context.Context, n *namespaces.Namespace) (*hostview.Table, error)
}

// Node is what is looked at.
type Node struct {
	Proc       string // where procfs is mounted; "/proc"
	Census     Census
	Namespaces []*namespaces.Namespace
	Tasks      []namespaces.Task // the containers that the runtime knows
	// Host are the mount namespaces of the node itself, by inode: the runtime's
	// first, whose paths a source in a specification is one of, and those of
	// pid 1 and the kubelet where they are others.
	Host        []uint64
	KubeletRoot string
	// Unknown is what is already known not to be known, such as that of a census.
	Unknown []namespaces.Unknown
	// Upper proves what overlays are written to; nil: nothing is proved.
	Upper Overlays
	// Differ reports that the file system of one path of the node is known to be
	// of another size than those of all the others; nil: it is not known.
	Differ func(ctx context.Context, at string, others []string) bool
	// Stat looks at what a link of procfs leads to; nil: the kernel does.
	Stat func(path string) (Stat, error)
	Now  func() time.Time // nil: time.Now
}

func (n Node) isHost(inode uint64) bool { return slices.Contains(n.Host, inode) }

func (n Node) now() time.Time {
	if n.Now != nil {
		return n.Now().UTC()
	}
	return time.Now().UTC()
}
