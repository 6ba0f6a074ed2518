package doctor

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/discover"
	"github.com/mountward/mountward/pkg/hostview"
)

// cause says why a path is on a mount in that state, as far as can be seen.
func (n *node) cause(code string, at looked) string {
	if code == CodeShared {
		return n.selfBind(at)
	}
	var all []string
	if initial, elsewhere := n.sharedOutside(at); elsewhere {
		all = append(all, fmt.Sprintf("in the mount namespace of process 1 the path is shared (id %d, %s); here it is not: %s",
			initial.mount.ID, initial.mount.State, n.ownNamespace(at.space)))
		if why := n.bound(at); why != "" {
			all = append(all, why)
		}
		return strings.Join(all, "; ")
	}
	if code == CodeNotLinked {
		return n.noPeer(at)
	}
	for _, why := range []string{n.userNamespace(at), n.bound(at), n.ownVolume(at)} {
		if why != "" {
			all = append(all, why)
		}
	}
	if len(all) == 0 {
		all = append(all, n.neverShared(at))
	}
	return strings.Join(all, "; ")
}

// sharedOutside looks at the same path in the mount namespace of process 1,
// where that is another one, and reports whether it is shared there.
func (n *node) sharedOutside(at looked) (looked, bool) {
	if at.has(RoleInit) {
		return looked{}, false
	}
	for _, sp := range n.spaces {
		if sp.has(RoleInit) {
			initial, why := n.look(sp, at.path)
			return initial, why == "" && initial.mount.State.Shared()
		}
	}
	return looked{}, false
}

// noPeer explains a mount that is shared with nobody outside its namespace,
// where the host's is not shared either, or cannot be told.
func (n *node) noPeer(at looked) string {
	why := n.ownNamespace(at.space)
	host, unknown := n.look(n.home, at.path)
	if unknown != "" {
		return fmt.Sprintf("cannot tell what the host has there: %s; %s", unknown, why)
	}
	return fmt.Sprintf("the host's mount there (id %d at %s) is %s, so what was copied from it into this mount namespace has no peer outside: it was made shared inside, where only what is copied from here joins it; %s",
		host.mount.ID, word(host.mount.MountPoint), host.mount.State, why)
}

// initialUser is the inode of the first user namespace: PROC_USER_INIT_INO.
const initialUser = 0xEFFFFFFD

func (n *node) userNamespace(at looked) string {
	user := at.first().User
	if user == 0 || user == initialUser {
		return ""
	}
	text := fmt.Sprintf("the mount namespace belongs to the user namespace user:[%d], and the kernel makes what is copied into one of those a slave", user)
	if kind := n.container(); kind != "" {
		text += fmt.Sprintf(": the node is a container (%s)", kind)
	}
	return text
}

// bound recognises a bind mount, which has a propagation of its own.
func (n *node) bound(at looked) string {
	if at.mount.Root == "/" {
		return ""
	}
	dir, on, ok := discover.Origin(at.first().Table, at.mount)
	switch {
	case !ok && strings.HasPrefix(at.mount.Root, "/var/snap/"), ok && strings.HasPrefix(dir, "/var/snap/"):
		if !ok {
			dir = at.mount.Root
		}
		return fmt.Sprintf("it is a bind mount of %s that snapd made for a snap's layout, and snapd binds privately", word(dir))
	case !ok:
		return fmt.Sprintf("it is a bind mount of the directory %s of its file system, made private or from a private mount", word(at.mount.Root))
	case dir == at.mount.MountPoint:
		return fmt.Sprintf("%s is bound onto itself, and the bind is private like the mount at %s that it was made from", word(dir), word(on.MountPoint))
	case on.State.Shared():
		return fmt.Sprintf("it is a bind mount of %s, which is shared, and was made private", word(dir))
	default:
		return fmt.Sprintf("it is a bind mount of %s, which is not shared either", word(dir))
	}
}

// ownVolume recognises a volume that a node which is a container was given.
func (n *node) ownVolume(at looked) string {
	root, ok := at.first().Table.At("/")
	if !ok || at.mount.ID == root.ID || n.container() == "" && root.FSType != "overlay" {
		return ""
	}
	state := "private too"
	if root.State.Shared() {
		state = "shared"
	}
	return fmt.Sprintf("%s is a volume of its own that the node, a container, was started with; that / is %s does not matter for it", word(at.mount.MountPoint), state)
}

// neverShared explains a mount that nobody made shared.
func (n *node) neverShared(at looked) string {
	e := at.mount
	if e.MountPoint != "/" {
		parent, ok := at.first().Table.ByID(e.Parent)
		switch {
		case !ok:
			return fmt.Sprintf("nothing made the mount at %s shared", word(e.MountPoint))
		case parent.State.Shared():
			return fmt.Sprintf("the mount at %s below it is shared, so this one was made private by itself", word(parent.MountPoint))
		}
		return fmt.Sprintf("what is mounted on a private mount is private: %s is on the one at %s, which is %s%s",
			word(e.MountPoint), word(parent.MountPoint), parent.State, n.boot(parent))
	}
	return strings.TrimPrefix(n.boot(e), ", and ")
}

// boot explains a root that is not shared: the kernel mounts it private.
func (n *node) boot(root hostview.Entry) string {
	if root.MountPoint != "/" {
		return ""
	}
	kind, system := n.container(), n.initSystem()
	switch {
	case kind != "":
		return fmt.Sprintf(", and the node is a container (%s), whose root is private unless its entrypoint shares it", kind)
	case n.wsl():
		return ", and this is WSL, where nothing makes / shared unless systemd is process 1"
	case root.FSType == "overlay" && system != initSystemd:
		return fmt.Sprintf(", and / is an overlay of a machine's image whose process 1 (%s) does not make it shared", word(n.initComm()))
	case system != initSystemd:
		return fmt.Sprintf(", and process 1 is %s: systemd makes / shared at boot, here nothing did", word(n.initComm()))
	default:
		return ", and systemd makes / shared at boot: something made it private later"
	}
}

// selfBind recognises what the kubelet does at its start: where the mount that
// its root is on is not shared, it binds the root onto itself and shares that.
//
// Source: kubernetes pkg/kubelet/kubelet.go setupDataDirs.
func (n *node) selfBind(at looked) string {
	if at.mount.MountPoint != n.Kubelet.Canonical {
		return ""
	}
	dir, on, ok := discover.Origin(at.first().Table, at.mount)
	if !ok || dir != at.mount.MountPoint || on.State.Shared() {
		return ""
	}
	return fmt.Sprintf("it is shared because the kubelet bound its root onto itself when it started; the mount at %s is still %s: "+
		"HostToContainer and Bidirectional fail for every other path on it", word(on.MountPoint), on.State)
}
