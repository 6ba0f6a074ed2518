package pins

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/internal/linux"
	"github.com/mountward/mountward/pkg/internal/wait"
	"github.com/mountward/mountward/pkg/namespaces"
)

// btrfsID asks the btrfs at a mount point of a namespace for its id, by a
// process in it. The directory is open for no longer than the question takes.
func (s *search) btrfsID(n *namespaces.Namespace, mountPoint string) (string, error) {
	if len(n.PIDs) == 0 {
		return "", fmt.Errorf("no process is in the namespace, through which it could be asked")
	}
	return wait.For(s.ctx, patience, func() (string, error) {
		root, err := linux.OpenMagic(fmt.Sprintf("%s/%d/root", s.Proc, n.PIDs[0]))
		if err != nil {
			return "", err
		}
		defer root.Close()
		dir, err := linux.OpenPath(root, strings.TrimPrefix(mountPoint, "/")+"/.", linux.InRoot|linux.NoMagicLinks)
		if err != nil {
			return "", err
		}
		defer dir.Close()
		b, err := linux.Btrfs(dir)
		return b.FSID, err
	}, nil)
}
