package doctor

import (
	"fmt"
	"path"

	"github.com/mountward/mountward/pkg/discover"
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

// judged reports whether containerd's checks matter for what is asked in a space.
// Only the runtime's mount namespace is asked; where no runtime is known, the one
// it would be in.
func (n *node) judged(sp space) bool {
	_, known := n.Place(RoleRuntime)
	return (!known || sp.has(RoleRuntime)) && (n.Runtime.Name == "" || n.Runtime.Name == discover.Containerd)
}

// conclusions are findings about the checks of containerd's CRI, which resolves
// symbolic links, and of its NRI, which does not, where they come to another
// answer than the kernel: one where both take the same mount for it.
func (n *node) conclusions(at looked) []Finding {
	if !n.judged(at.space) {
		return nil
	}
	clean := path.Clean(at.path)
	cri, criWrong := misjudges(at, at.canonical)
	nri, nriWrong := misjudges(at, clean)
	var all []Finding
	if both := criWrong && nriWrong && cri.ID == nri.ID && clean == at.canonical; both {
		return []Finding{n.misjudged(at, CodeCRIMisjudges, "containerd's checks, its CRI's and its NRI's of what a plugin changes, judge", clean, cri)}
	}
	if criWrong {
		all = append(all, n.misjudged(at, CodeCRIMisjudges, "containerd's CRI check judges", at.canonical, cri))
	}
	if nriWrong {
		all = append(all, n.misjudged(at, CodeNRIMisjudges, "containerd's NRI check, of what a plugin changes, judges", clean, nri))
	}
	return all
}

// misjudges returns the mount that a check judges a path by, and whether it comes
// to another answer by it.
func misjudges(at looked, clean string) (hostview.Entry, bool) {
	e, ok := concluded(at.first().Table, clean)
	return e, ok && e.ID != at.mount.ID && verdictOf(e.State) != verdictOf(at.mount.State)
}

// verdict is which of the two requests a check accepts.
type verdict struct{ bidirectional, hostToContainer bool }

func verdictOf(s facts.MountState) verdict { return verdict{s.Shared(), s.Receives()} }

// verdict is what containerd's CRI check accepts for a path, by whatever mount.
func (n *node) verdict(at looked) verdict {
	if n.judged(at.space) {
		if e, ok := concluded(at.first().Table, at.canonical); ok {
			return verdictOf(e.State)
		}
	}
	return verdictOf(at.mount.State)
}

func (n *node) misjudged(at looked, code, checks, path string, by hostview.Entry) Finding {
	f := Finding{
		Code: code, Answer: facts.No, Subject: at.path, Where: at.where(),
		Evidence: []Evidence{at.evidence(at.mount), at.evidence(by)},
		Message: fmt.Sprintf("%s %s by the mount at %s (id %d, %s), but it is on the one at %s (id %d, %s)", checks, word(path),
			word(by.MountPoint), by.ID, by.State, word(at.mount.MountPoint), at.mount.ID, at.mount.State),
	}
	truth, wrong := verdictOf(at.mount.State), verdictOf(by.State)
	passes := wrong.bidirectional && !truth.bidirectional || wrong.hostToContainer && !truth.hostToContainer
	if passes {
		f.Effect = "the check passes, and the mounts do not propagate: nothing says so"
	} else {
		f.Effect = "the check refuses containers that would work: " + refused(wrong)
	}
	switch {
	case by.MountPoint == at.mount.MountPoint:
		f.Cause, f.Fixes = n.stackedOn(at, by, passes)
	case !facts.Within(path, by.MountPoint):
		f.Cause = fmt.Sprintf("the check compares strings: %s begins with %s, but is not below it", word(path), word(by.MountPoint))
		less := by.MountPoint
		if passes {
			less = at.mount.MountPoint
		}
		f.Fixes = []Fix{{What: "give both mounts the same propagation", Commands: []string{at.enter() + share(less)}}}
	case path != at.canonical:
		f.Cause = fmt.Sprintf("the check does not follow symbolic links: %s leads to %s", word(path), word(at.canonical))
		f.Fixes = []Fix{{What: "use the path without symbolic links in the pod: " + word(at.canonical)}}
	default:
		f.Cause = fmt.Sprintf("the mount at %s is hidden by the one at %s", word(by.MountPoint), word(at.mount.MountPoint))
		f.Fixes = []Fix{{What: "give both mounts the same propagation"}}
	}
	return f
}

func refused(v verdict) string {
	if v.hostToContainer {
		return "Bidirectional"
	}
	return "Bidirectional and HostToContainer"
}
