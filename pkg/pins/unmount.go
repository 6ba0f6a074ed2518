package pins

import (
	"fmt"
	"slices"

	"github.com/mountward/mountward/pkg/internal/shell"
)

// unmountThere is the cure of unmounting by path in the holder's namespace. What
// is covered is not offered: by its path another mount would be unmounted.
func (s *search) unmountThere(h *Holder, what, cost string) {
	commands, hidden := unmounts(h)
	if len(commands) > 0 {
		h.cure(what, cost, commands...)
	}
	if hidden != nil {
		h.cure(uncover(hidden.MountPoint, hidden.Covered), "what covers it is gone as well")
	}
}

func uncover(mountPoint, by string) string {
	return fmt.Sprintf("first unmount what covers it: the path %s leads to another mount, and so would an unmount (%s)", mountPoint, by)
}

// unmountOnHost is the cure for copies that go with the host's mounts.
func (s *search) unmountOnHost(h *Holder) {
	var commands []string
	hidden := ""
	seen := map[int]bool{}
	for _, m := range h.Mounts {
		e, ok := s.home.ByID(m.HostMount)
		if !ok || seen[m.HostMount] {
			continue
		}
		seen[m.HostMount] = true
		if by, _ := covered(s.home, e); by != "" {
			hidden = "unmount it on the host, and " + uncover(e.MountPoint, by)
			continue
		}
		commands = append(commands, "umount "+shell.Quote(e.MountPoint))
	}
	if len(commands) > 0 {
		h.cure("unmount it on the host", "none, if nobody needs it; refused while something in it is open: see what is listed", commands...)
	}
	if hidden != "" {
		h.cure(hidden, "what covers it is gone as well")
	}
}

// unmounts are the commands that unmount the mounts of a holder, the last one
// first: a later one can lie on an earlier one. hidden is one that is not among
// them.
func unmounts(h *Holder) (commands []string, hidden *Mount) {
	in := ""
	if file := namespaceFile(h); file != "" {
		in = "-N " + shell.Quote(file) + " "
	} else if h.Where != WhereHost {
		return nil, nil
	}
	done := map[int]bool{}
	left := slices.Clone(h.Mounts)
	slices.Reverse(left)
	for more := true; more; {
		more = false
		left = slices.DeleteFunc(left, func(m Mount) bool {
			over := func(id int) bool { return !done[id] }
			if m.Covered != "" && (len(m.over) == 0 || slices.ContainsFunc(m.over, over)) {
				return false
			}
			more, done[m.ID] = true, true
			commands = append(commands, "umount "+in+shell.Quote(m.MountPoint))
			return true
		})
	}
	if len(left) > 0 {
		hidden = &left[0]
	}
	return commands, hidden
}

// release are the cures for what keeps a namespace without a process.
func (s *search) release(h *Holder) {
	for _, held := range h.Held {
		switch {
		case held.PID != 0:
			h.cure(fmt.Sprintf("let process %d close descriptor %d, or end it", held.PID, held.FD), "the process ends", s.kill(held.PID))
		case held.Path != "" && s.leadsTo(held.Path, fmt.Sprintf("mnt:[%d]", h.Namespace)):
			h.cure("unmount the namespace's file, and the namespace ends", "nobody can enter the namespace any more", "umount "+shell.Quote(held.Path))
		case held.Path != "":
			h.cure(fmt.Sprintf("unmount the namespace's file, which is at %s of mnt:[%d], and the namespace ends", held.Path, held.In), "nobody can enter the namespace any more")
		}
	}
}

// leadsTo reports whether a path of the host leads to the file of a namespace.
func (s *search) leadsTo(path, namespace string) bool {
	if s.home == nil {
		return false
	}
	e, ok := s.home.At(path)
	return ok && e.FSType == "nsfs" && e.Root == namespace
}
