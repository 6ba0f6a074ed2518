package doctor

import (
	"fmt"
	"path"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// The codes of checks that judge a path by another mount than the one it is on.
const (
	CodeCRIMisjudges = "cri-misjudges"
	CodeNRIMisjudges = "nri-misjudges"
)

// concluded is the mount by which a runtime's check judges a path: the longest
// mount point that is a string prefix of it, components not regarded, and of
// stacked mounts the one that is listed first, which is the hidden bottom one.
//
// Source: containerd 2.4.2 core/mount/lookup_unix.go, nri 0.12.5
// pkg/runtime-tools/generate/helpers_linux.go, both with moby/sys/mountinfo
// 0.7.2. From 0.7.3 on its filter compares components.
func concluded(t *hostview.Table, clean string) (hostview.Entry, bool) {
	for end := len(clean); end > 0; end-- {
		if e, ok := t.First(clean[:end]); ok {
			return e, true
		}
	}
	return hostview.Entry{}, false
}

// conclusions are findings about the checks of containerd's CRI, which resolves
// symbolic links, and of its NRI, which does not, where they come to another
// answer than the kernel. Only the runtime's mount namespace is asked; where no
// runtime is known, the one it would be in.
func (n *node) conclusions(at looked) []Finding {
	if _, known := n.Place(RoleRuntime); known && !at.has(RoleRuntime) || n.Runtime.Name != "" && n.Runtime.Name != "containerd" {
		return nil
	}
	var all []Finding
	for _, check := range []struct{ code, name, path string }{
		{CodeCRIMisjudges, "containerd's CRI check", at.canonical},
		{CodeNRIMisjudges, "containerd's NRI check, of what a plugin changes", path.Clean(at.path)},
	} {
		e, ok := concluded(at.first().Table, check.path)
		if ok && e.ID != at.mount.ID && verdictOf(e.State) != verdictOf(at.mount.State) {
			all = append(all, misjudged(at, check.code, check.name, check.path, e))
		}
	}
	return all
}

// verdict is which of the two requests a check accepts.
type verdict struct{ bidirectional, hostToContainer bool }

func verdictOf(s facts.MountState) verdict { return verdict{s.Shared(), s.Receives()} }

func misjudged(at looked, code, name, path string, by hostview.Entry) Finding {
	f := Finding{
		Code: code, Answer: facts.No, Subject: at.path, Where: at.where(),
		Evidence: []Evidence{at.evidence(at.mount), at.evidence(by)},
		Message: fmt.Sprintf("%s judges %s by the mount at %s (id %d, %s), but it is on the one at %s (id %d, %s)", name, word(path),
			word(by.MountPoint), by.ID, by.State, word(at.mount.MountPoint), at.mount.ID, at.mount.State),
	}
	truth, wrong := verdictOf(at.mount.State), verdictOf(by.State)
	switch {
	case wrong.bidirectional && !truth.bidirectional, wrong.hostToContainer && !truth.hostToContainer:
		f.Effect = "the check passes, and the mounts do not propagate: nothing says so"
	default:
		f.Effect = "the check refuses containers that would work: " + refused(wrong)
	}
	fix := Fix{What: "give both mounts the same propagation"}
	switch {
	case by.MountPoint == at.mount.MountPoint:
		f.Cause = fmt.Sprintf("%s is mounted twice, one on the other; findmnt shows both, and the check takes the hidden one below", word(by.MountPoint))
		fix.What = fmt.Sprintf("find what mounts %s twice and let it do so once; until then unmount the upper mount, or make the lower one what the upper one is before the upper one is mounted", word(by.MountPoint))
	case !facts.Within(path, by.MountPoint):
		f.Cause = fmt.Sprintf("the check compares strings: %s begins with %s, but is not below it", word(path), word(by.MountPoint))
		fix.Commands = []string{"mount --make-rshared " + quote(by.MountPoint)}
	case path != at.canonical:
		f.Cause = fmt.Sprintf("the check does not follow symbolic links: %s leads to %s", word(path), word(at.canonical))
		fix = Fix{What: "use the path without symbolic links in the pod: " + word(at.canonical)}
	default:
		f.Cause = fmt.Sprintf("the mount at %s is hidden by the one at %s", word(by.MountPoint), word(at.mount.MountPoint))
	}
	f.Fixes = []Fix{fix}
	return f
}

func refused(v verdict) string {
	if v.hostToContainer {
		return "Bidirectional"
	}
	return "Bidirectional and HostToContainer"
}
