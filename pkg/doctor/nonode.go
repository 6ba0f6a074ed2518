package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
)

// noNode reports a path that nothing says must be shared: no kubelet and no
// runtime was found, its directory does not exist, and the settings do not name
// it. So it is on a machine that is no node, or none yet.
func (n *node) noNode(at looked) bool {
	k, r := n.Kubelet, n.Runtime
	if k.PID != 0 || r.PID != 0 || r.Shim != 0 || len(k.Live) > 0 || slices.Contains(n.Named, at.path) || !facts.Within(at.path, k.Root) {
		return false
	}
	_, err := at.first().Files.Canonical(n.Context, k.Root)
	return errors.Is(err, fs.ErrNotExist)
}

// whatIfNode says it once, and what a kubelet would meet.
func (n *node) whatIfNode(at looked) []Finding {
	if at.path != n.Kubelet.Root {
		return nil
	}
	return []Finding{{
		Code: CodeNoNode, Subject: at.path, Where: at.where(), Evidence: []Evidence{at.evidence(at.mount)},
		Message: fmt.Sprintf("cannot tell whether mounts must propagate here: no kubelet and no containerd was found, and %s does not exist; made now, it would be on the mount at %s (id %d, %s), and a kubelet needs a shared one",
			word(at.path), word(at.mount.MountPoint), at.mount.ID, at.mount.State),
	}}
}
