package doctor

import (
	"context"
	"io"
	"time"

	"github.com/mountward/mountward/pkg/discover"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

// Files reads the files of a mount namespace; nothing in it hangs. A path that
// leads nowhere is an error matching fs.ErrNotExist; *hostview.View is one.
type Files interface {
	// Canonical returns the path without symbolic links.
	Canonical(ctx context.Context, path string) (string, error)
	ReadFile(ctx context.Context, path string, limit int) ([]byte, error)
	ReadDir(ctx context.Context, path string, limit int) ([]string, error)
}

// The roles of places.
const (
	RoleInit    = "pid 1"
	RoleKubelet = "kubelet"
	RoleRuntime = "runtime"
)

// Place is a mount namespace that matters, with the table of the process in it.
type Place struct {
	Role    string
	Process namespaces.Process
	Inode   uint64 // of the mount namespace; 0: not known
	User    uint64 // of the user namespace that owns it; 0: not known
	Table   *hostview.Table
	Why     string // why there is no table, or no inode
	Files   Files
}

// Snapshot is all that the checks look at, read once.
type Snapshot struct {
	Context context.Context // the checks run within it
	Proc    string
	Sys     string
	Files   Files // of pid 1
	// Require are the paths that must be shared: the kubelet's, and those of
	// [host] require_shared.
	Require []string
	// Named are those of them that the settings name.
	Named []string
	// Places are those of pid 1, the kubelet and the runtime, as far as found.
	// Several can be of one namespace.
	Places  []Place
	Kubelet discover.Kubelet
	Runtime discover.Runtime
	Census  *namespaces.Census
	Tasks   []namespaces.Task
	Now     time.Time
	Unknown []namespaces.Unknown
	// Elsewhere: procfs is that of a container, in which there is neither a
	// kubelet nor a runtime.
	Elsewhere bool

	closers []io.Closer
}

// Place returns the place with the role.
func (s *Snapshot) Place(role string) (Place, bool) {
	for _, p := range s.Places {
		if p.Role == role {
			return p, true
		}
	}
	return Place{}, false
}
