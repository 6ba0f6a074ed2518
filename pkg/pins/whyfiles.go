package pins

import "fmt"

// whyFiles says why what a process has open holds the target.
func (h *Holder) whyFiles() {
	f := h.Files[0]
	switch {
	case h.Kind == KindNamespaceUser:
		h.Why = "it is in the namespace"
	case h.Kind == KindNamespaceFile:
		h.Why = "it has the namespace's file open"
	case h.Kind == KindOpenDevice:
		h.Why = fmt.Sprintf("it has the block device %s open", f.Path)
	case f.Detached:
		h.Why = fmt.Sprintf("%s %s is on a mount that is in no table: it was lazily unmounted, which only hid it, or never attached (open_tree)", noun(h.Kind), f.Path)
	case f.slave:
		h.Why = fmt.Sprintf("%s %s is on a copy that goes with the host's mount: the host's unmount is refused (EBUSY)", noun(h.Kind), f.Path)
	default:
		h.Why = fmt.Sprintf("%s %s: an unmount of the mount that it is on is refused (EBUSY)", noun(h.Kind), f.Path)
	}
}

func noun(k Kind) string {
	switch k {
	case KindCwd:
		return "its working directory"
	case KindRoot:
		return "its root"
	case KindExe:
		return "its program"
	case KindMapped:
		return "the mapped file"
	default:
		return "the open file"
	}
}

func (s *search) cureFiles(h *Holder) {
	if h.User {
		h.endUse()
		return
	}
	if f := h.Files[0]; h.Kind == KindOpenFile || h.Kind == KindOpenDevice || h.Kind == KindNamespaceFile {
		h.cure(fmt.Sprintf("let process %d close %s (%s)", h.Processes[0].PID, f.Link, f.Path), "none")
	}
	s.restart(h)
	if h.Owner.ContainerID != "" {
		h.cure("end the process", "it ends", s.kills(h)...)
	}
}
