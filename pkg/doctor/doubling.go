package doctor

import (
	"cmp"
	"fmt"
	"math/bits"
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/shell"
)

// The codes of mounts that pile up.
const (
	CodeDoubling     = "doubling"      // one thing is mounted at one place again and again
	CodeStacked      = "stacked"       // many things are mounted at one place
	CodeKubeletStack = "kubelet-stack" // the kubelet root is bound on itself again and again
	CodeNotDoubled   = "no-doubling"   // yes
	mostPiles        = 10              // that are told of each namespace
	fewEqual, fewAll = 4, 8            // fewer at one place are common: twins, binfmt_misc, netns
)

// checkDoubling finds places where mounts pile up, and the containers through
// which they can have come.
func checkDoubling(s *Snapshot) []Finding {
	var all []Finding
	told := map[string]bool{}
	for _, sp := range s.spaces() {
		found := s.piles(sp)
		found = slices.DeleteFunc(found, func(p pile) bool { return told[p.key()] })
		more := len(found) - mostPiles
		found = found[:min(mostPiles, len(found))]
		mounts := make([]hostview.Entry, len(found))
		for i, p := range found {
			told[p.key()] = true
			mounts[i] = p.one
		}
		for i, b := range s.blame(sp, mounts) {
			all = append(all, s.doubled(sp, found[i], b))
		}
		if more > 0 {
			last := &all[len(all)-1]
			last.Message += fmt.Sprintf("; %d more places of this namespace have piles that are smaller", more)
		}
	}
	if len(all) > 0 {
		return all
	}
	if sp, ok := s.host(); ok {
		t := sp.first().Table
		return []Finding{{
			Code: CodeNotDoubled, Answer: facts.Yes, Subject: "/", Where: sp.where(),
			Message:  "no place has mounts piled up on it",
			Evidence: []Evidence{{Text: fmt.Sprintf("%d mounts", t.Len()), Show: pilesCommand(sp)}},
		}}
	}
	return nil
}

func pilesCommand(sp space) string {
	return fmt.Sprintf("awk '{print $5, $3, $4}' /proc/%d/mountinfo | sort | uniq -c | sort -rn | head", sp.first().Process.PID)
}

// pile is what is mounted at one mount point.
type pile struct {
	point string
	all   int            // mounts there
	equal int            // of them that show the same directory of the same file system
	one   hostview.Entry // of the equal ones, the last that the table lists
	first hostview.Entry // at the point
	fuse  bool           // all are
}

func (p pile) key() string { return fmt.Sprintf("%d %d %s", p.all, p.equal, p.point) }

// doubling reports a number that comes from doubling, or from doubling and one
// unmount.
func doubling(n int) bool {
	return n >= fewEqual && (bits.OnesCount(uint(n)) == 1 || bits.OnesCount(uint(n+1)) == 1 && n >= 2*fewEqual-1)
}

// piles finds them, the largest first.
func (s *Snapshot) piles(sp space) []pile {
	t := sp.first().Table
	counts := make(map[string]int32, t.Len())
	for e := range t.All() {
		counts[e.MountPoint]++
	}
	type same struct {
		point string
		what  facts.Identity
	}
	equal := map[same]int{}
	found := map[string]*pile{}
	for e := range t.All() {
		if counts[e.MountPoint] < 2 {
			continue
		}
		p, ok := found[e.MountPoint]
		if !ok {
			p = &pile{point: e.MountPoint, all: int(counts[e.MountPoint]), first: e, fuse: true}
			found[e.MountPoint] = p
		}
		key := same{e.MountPoint, e.Identity()}
		equal[key]++
		p.fuse = p.fuse && strings.HasPrefix(e.FSType, "fuse")
		if n := equal[key]; n >= p.equal {
			p.equal, p.one = n, e
		}
	}
	var piles []pile
	for point, p := range found {
		if !s.tooMany(*p) {
			delete(found, point)
		}
	}
	for _, p := range found {
		if !p.follows(found) {
			piles = append(piles, *p)
		}
	}
	slices.SortFunc(piles, func(a, b pile) int {
		return cmp.Or(cmp.Compare(b.all, a.all), strings.Compare(a.point, b.point))
	})
	return piles
}

// follows reports that the mounts are below another pile: each of those can have
// one of them, and all come with it.
func (p pile) follows(found map[string]*pile) bool {
	for dir := p.point; dir != "/" && dir != "."; {
		dir = path.Dir(dir)
		if found[dir] != nil {
			return true
		}
	}
	return false
}

// tooMany tells a pile from what a sound node has. A FUSE file system that was
// mounted anew on its dead predecessor is how such drivers recover.
func (s *Snapshot) tooMany(p pile) bool {
	if p.point == s.kubeletRoot() {
		return p.equal > selfBinds(p)
	}
	return doubling(p.equal) || p.equal >= fewAll || p.all >= fewAll && !p.fuse
}

// selfBinds is how many equal mounts the kubelet root can well have: its own
// file system, and the bind of it by which the kubelet shares one that is
// private.
func selfBinds(p pile) int {
	if p.first.Root == "/" {
		return 2
	}
	return 1
}

// doubled says what piles up at one place.
func (s *Snapshot) doubled(sp space, p pile, b blamed) Finding {
	f := Finding{
		Code: CodeStacked, Answer: facts.No, Subject: p.point, Where: sp.where(), Amount: p.all,
		Message: fmt.Sprintf("%d mounts are stacked at %s, %d of them of one directory", p.all, word(p.point), p.equal),
		Effect:  "every process that reads the mount table gets slower with each, and no mount can be made once fs.mount-max is reached",
		Fixes: []Fix{{
			What: "once what makes them is stopped, drain the node and reboot it: unmounting a stack one by one takes away what is in use on top first",
		}},
	}
	f.Evidence = []Evidence{sp.evidence(p.one), {Text: fmt.Sprintf("%d lines", p.all), Show: countCommand(sp, p.point)}}
	if doubling(p.equal) {
		f.Code = CodeDoubling
		f.Message = fmt.Sprintf("%s is mounted %d times at %s: the mounts have doubled %d times", what(p.one), p.equal, word(p.point), bits.Len(uint(p.equal+1))-1)
	}
	if p.point == s.kubeletRoot() {
		s.kubeletStack(&f, p)
		return f
	}
	f.Containers, f.Evidence = b.names, append(f.Evidence, b.evidence...)
	f.Cause, f.Fixes = b.cause(), append(b.fixes(), f.Fixes...)
	return f
}

func what(e hostview.Entry) string {
	return fmt.Sprintf("%s of the %s with the device number %s", word(e.Root), word(e.FSType), e.Device)
}

func countCommand(sp space, point string) string {
	return fmt.Sprintf("awk -v p=%s '$5 == p' /proc/%d/mountinfo | wc -l", shell.Quote(awkEscape(point)), sp.first().Process.PID)
}

// awkEscape writes a path as mountinfo does, for awk -v, which takes a
// backslash away.
func awkEscape(path string) string {
	return strings.NewReplacer(" ", `\\040`, "\t", `\\011`, "\n", `\\012`, `\`, `\\134`).Replace(path)
}

// kubeletStack says of a stack on the kubelet root who makes it: what is run
// before the kubelet starts.
func (s *Snapshot) kubeletStack(f *Finding, p pile) {
	unit := "kubelet.service"
	if k, ok := s.Place(RoleKubelet); ok && k.Process.Owner.Unit != "" {
		unit = k.Process.Owner.Unit
	}
	f.Code = CodeKubeletStack
	f.Message = fmt.Sprintf("the kubelet root %s is bound on itself: %d equal mounts are stacked there", word(p.point), p.equal)
	f.Cause = fmt.Sprintf("a bind of the kubelet root on itself that is made at every start of the kubelet, mounted already or not: look at ExecStartPre= of %s", word(unit))
	fix := Fix{
		What:       fmt.Sprintf("in ExecStartPre= of %s, make the bind only where nothing is mounted", word(unit)),
		Commands:   []string{"systemctl cat " + shell.Quote(unit)},
		Persistent: true,
	}
	if plain(p.point) {
		fix.What += ": in place of the line that has mount --bind, this one"
		fix.Content = "ExecStartPre=/bin/sh -c '" + bindAndShare(p.point) + "'\n"
	}
	f.Fixes = append([]Fix{fix}, f.Fixes...)
}
