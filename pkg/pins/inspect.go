package pins

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

// maxDescriptors bounds the descriptors that are looked at of one process.
const maxDescriptors = 1 << 17

// inspect looks at one process. One that is gone has nothing. The error is what
// could not be read of it; what could is returned as well.
func (s *search) inspect(p namespaces.Process) (all []held, err error) {
	dir := filepath.Join(s.Proc, fmt.Sprint(p.PID))
	if p.Thread != 0 {
		dir = filepath.Join(dir, "task", fmt.Sprint(p.Thread))
	}
	keep := func(e error) {
		if err == nil && e != nil && !gone(e) {
			err = e
		}
	}
	for _, l := range []struct {
		name string
		kind Kind
	}{{"cwd", KindCwd}, {"root", KindRoot}, {"exe", KindExe}} {
		h, e := s.link(p, dir, l.name, l.kind)
		keep(e)
		all = append(all, h...)
	}
	files, e := s.descriptors(p, dir)
	keep(e)
	all = append(all, files...)
	mapped, e := s.mapped(p, dir)
	keep(e)
	all = append(all, mapped...)
	all = append(all, s.inNamespace(dir)...)
	return all, err
}

// gone reports an error about a process, or a descriptor, that is not there any
// more.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

func (s *search) descriptors(p namespaces.Process, dir string) (all []held, err error) {
	f, err := os.Open(filepath.Join(dir, "fd"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(maxDescriptors + 1)
	if len(names) > maxDescriptors {
		return nil, fmt.Errorf("it has more than %d descriptors", maxDescriptors)
	}
	if len(names) == 0 {
		return nil, nil // EOF, or it is just ending
	}
	for _, name := range names {
		h, e := s.link(p, dir, "fd/"+name, KindOpenFile)
		if err == nil && e != nil && !gone(e) {
			err = e
		}
		all = append(all, h...)
	}
	return all, err
}

// link looks at what one link of a process leads to.
func (s *search) link(p namespaces.Process, dir, name string, kind Kind) ([]held, error) {
	path := filepath.Join(dir, name)
	text, err := os.Readlink(path)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(text, "/") {
		if targets := s.want.namespaces[text]; len(targets) > 0 {
			return []held{{kind: KindNamespaceFile, file: File{Link: name, Path: text}, targets: targets, text: name + " -> " + text}}, nil
		}
		if strings.Contains(text, ":") && !strings.HasPrefix(text, "(") {
			return nil, nil // a socket, a pipe, an anonymous inode
		}
	}
	st, err := s.Stat(path)
	if err != nil {
		return nil, err
	}
	f := File{Link: name, Path: text, MountID: st.MountID}
	if targets := s.want.blocks[st.Block]; !st.Block.IsZero() && len(targets) > 0 {
		return []held{{kind: KindOpenDevice, file: f, targets: targets, on: st.Block, text: fmt.Sprintf("%s -> %s (block device %s)", name, text, st.Block)}}, nil
	}
	h := held{kind: kind, file: f, text: fmt.Sprintf("%s -> %s (device %s, mount %d)", name, text, st.Device, st.MountID)}
	s.onMount(&h, p, st)
	if len(h.targets)+len(h.may) == 0 {
		return nil, nil
	}
	return []held{h}, nil
}

// onMount finds the targets that a file is of, by the mount that it is on. The
// device alone tells it for a file whose mount is in no table: one that was
// lazily unmounted.
func (s *search) onMount(h *held, p namespaces.Process, st Stat) {
	m, ok := s.mounts.byID[st.MountID]
	if !ok {
		parts := s.want.superblocks[st.Device]
		if len(parts) == 0 {
			return
		}
		var err error
		if m, err = s.younger(p, st.MountID); err != nil || !m.there {
			h.file.Detached = err == nil
			for _, part := range parts {
				h.of(part, part.Whole(), true)
			}
			return
		}
	}
	h.file.own, h.file.slave = m.own, m.slave
	rest, known := facts.Below(strings.TrimSuffix(h.file.Path, " (deleted)"), m.entry.MountPoint)
	at := m.entry.Identity()
	for _, part := range s.want.superblocks[m.entry.Device] {
		file := facts.Identity{Device: at.Device, Root: facts.JoinRoot(at.Root, rest)}
		h.of(part, part.Holds(at) || known && part.Holds(file), !known && part.Shows(at))
	}
}

// of adds a target that the file is of, or may be.
func (h *held) of(p part, is, may bool) {
	switch {
	case is && !slices.Contains(h.targets, p.target):
		h.targets = append(h.targets, p.target)
	case !is && may && !slices.Contains(h.may, p.target):
		h.may = append(h.may, p.target)
	}
}

// inNamespace reports a process that is in a namespace that was asked about.
func (s *search) inNamespace(dir string) []held {
	for ns, targets := range s.want.namespaces {
		kind, _, ok := strings.Cut(ns, ":")
		if !ok || strings.Contains(kind, "/") {
			continue
		}
		if text, err := os.Readlink(filepath.Join(dir, "ns", kind)); err == nil && text == ns {
			return []held{{kind: KindNamespaceUser, file: File{Link: "ns/" + kind, Path: text}, targets: targets, text: "ns/" + kind + " -> " + text}}
		}
	}
	return nil
}
