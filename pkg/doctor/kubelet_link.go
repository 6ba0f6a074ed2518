package doctor

import (
	"fmt"
	"path"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/shell"
)

// rootLink warns of a root that is reached through a symbolic link: the kubelet
// compares the path that it was given with mount tables, which have the other.
func rootLink(s *Snapshot) *Finding {
	k := s.Kubelet
	if k.Canonical == "" || k.Canonical == k.Root {
		return nil
	}
	return &Finding{
		Code: CodeRootLink, Answer: facts.No, Subject: k.Root,
		Message: fmt.Sprintf("%s is reached through a symbolic link and leads to %s: mount tables have that path, the kubelet and drivers use the other",
			word(k.Root), word(k.Canonical)),
		Evidence:   []Evidence{{Text: k.Root + " -> " + k.Canonical, Show: "readlink -f " + shell.Quote(k.Root)}},
		Cause:      "somebody moved the directory to another disk and left a link behind, or linked the standard path to the distribution's",
		Effect:     "a driver that follows the link inside its container mounts where nothing propagates, and checks for mount points compare the wrong path: pods see empty volumes or hang in Terminating",
		Fixes:      moveFixes(s),
		Containers: mountsElsewhere(s),
	}
}

// moveFixes put the root where everybody has the same path for it. A directory
// can be bound in place of the link itself, not of a link on the way to it.
func moveFixes(s *Snapshot) []Fix {
	k := s.Kubelet
	start := Fix{
		What:       fmt.Sprintf("drain the node, start the kubelet with --root-dir=%s, and give drivers that path", word(k.Canonical)),
		Persistent: true,
	}
	if !lastIsLink(s) {
		return []Fix{start}
	}
	root, dir := shell.Quote(k.Root), shell.Quote(k.Canonical)
	bind := Fix{
		What:       fmt.Sprintf("drain the node, make %s a directory and bind %s onto it with all that is mounted below; the line is for fstab, the commands are for now", word(k.Root), word(k.Canonical)),
		File:       "/etc/fstab",
		Content:    fmt.Sprintf("%s %s none rbind,rshared 0 0\n", fstab(k.Canonical), fstab(k.Root)),
		Add:        true,
		Persistent: true,
	}
	if on, ok := kubeletMount(s); !ok || !on.State.Shared() {
		// Private mounts would be doubled: each copy unmounted alone.
		bind.What += ". What is on a mount that is not shared must be unmounted or shared first"
		return []Fix{bind, start}
	}
	bind.Commands = []string{
		fmt.Sprintf("test ! -L %[1]s || { rm %[1]s && mkdir %[1]s; }", root),
		fmt.Sprintf("mountpoint -q %[1]s || mount --rbind %[2]s %[1]s; mount --make-rshared %[1]s", root, dir),
	}
	return []Fix{bind, start}
}

// lastIsLink reports that the root itself is the link, and nothing on the way.
func lastIsLink(s *Snapshot) bool {
	p, ok := s.Place(RoleKubelet)
	if !ok {
		p, ok = s.Place(RoleInit)
	}
	if !ok || p.Files == nil {
		return false
	}
	dir := path.Dir(s.Kubelet.Root)
	canonical, err := p.Files.Canonical(s.Context, dir)
	return err == nil && canonical == dir
}

// kubeletMount is the mount that the root is on for the kubelet.
func kubeletMount(s *Snapshot) (hostview.Entry, bool) {
	for _, role := range []string{RoleKubelet, RoleInit} {
		if p, ok := s.Place(role); ok && p.Table != nil {
			return p.Table.Covering(s.Kubelet.Canonical)
		}
	}
	return hostview.Entry{}, false
}

// fstab escapes a path for fstab(5).
func fstab(p string) string {
	return strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`, "#", `\043`).Replace(p)
}
