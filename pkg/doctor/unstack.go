package doctor

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/hostview"
)

// stackedOn explains a path with several mounts, of which a check takes the
// hidden lowest one, and says what makes them agree. passes is that the check
// accepts what does not propagate: then the upper one is the one to be shared.
func (n *node) stackedOn(at looked, lowest hostview.Entry, passes bool) (cause string, fixes []Fix) {
	point := at.mount.MountPoint
	count, same := 0, true
	for e := range at.first().Table.All() {
		if e.MountPoint == point {
			count++
			same = same && e.Identity() == at.mount.Identity()
		}
	}
	hidden := "findmnt shows them all, and the check takes the hidden lowest one"
	ofKubelet := same && !passes && point == n.Kubelet.Canonical
	switch {
	case ofKubelet && count == 2:
		cause = fmt.Sprintf("the kubelet bound its root onto itself when it started, because the mount at %s was %s; %s", word(point), lowest.State, hidden)
	case ofKubelet:
		cause = fmt.Sprintf("%s is bound onto itself again and again, %d mounts are there; %s", word(point), count, hidden)
	case count == 2:
		cause = fmt.Sprintf("%s is mounted twice, one on the other; %s", word(point), hidden)
	default:
		cause = fmt.Sprintf("%s is mounted %d times, one on the other; %s", word(point), count, hidden)
	}
	once := fmt.Sprintf("find what mounts %s more than once and let it do so once; until then ", word(point))
	switch {
	case passes:
		return cause, []Fix{{What: once + "share the upper mount too", Commands: []string{at.enter() + share(point)}}}
	case !same || !plain(point) || at.enter() != "":
		return cause, []Fix{{What: once + "drain the node, unmount the upper ones, share the lowest, and mount again on it what is needed"}}
	}
	return cause, []Fix{n.unstack(point), n.persistent(point)}
}

// unstack unmounts all but the lowest of equal mounts, and shares that. What has
// a mount on it or is in use stays: umount refuses it.
func (n *node) unstack(point string) Fix {
	f := Fix{
		What: fmt.Sprintf("drain the node, stop the kubelet, then unmount all but the lowest mount at %s and share that: the kubelet binds its root only where it is not shared", word(point)),
		Commands: []string{fmt.Sprintf(
			`while [ $(awk '$5 == "%[1]s"' /proc/self/mountinfo | wc -l) -gt 1 ] && umount %[1]s; do :; done; %[2]s`, point, share(point))},
	}
	if k, ok := n.Place(RoleKubelet); ok && strings.HasSuffix(k.Process.Owner.Unit, ".service") {
		if stop := n.command("stop", k.Process.Owner.Unit); stop != "" {
			f.Commands = []string{stop, f.Commands[0], n.command("start", k.Process.Owner.Unit)}
		}
	}
	return f
}
