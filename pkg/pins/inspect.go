package pins

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux"
	"github.com/mountward/mountward/pkg/namespaces"
)

// maxDescriptors bounds the descriptors that are looked at of one process.
const maxDescriptors = 1 << 17

// inspect looks at one process, or a thread that is in a namespace of its own. One
// that is gone has nothing. The error is what could not be read of it; what could
// is returned as well.
func (s *search) inspect(p namespaces.Process) (all []held, err error) {
	name := strconv.Itoa(p.PID)
	if p.Thread != 0 {
		name += "/task/" + strconv.Itoa(p.Thread)
	}
	keep := func(e error) {
		if err == nil && e != nil && !gone(e) {
			err = e
		}
	}
	task, e := linux.OpenProcTask(s.Proc, name)
	if e != nil {
		keep(e)
		return nil, err
	}
	defer task.Close()
	at := inspected{process: p, task: task, dir: s.Proc + "/" + name}
	all, e = s.everything(at)
	keep(e)
	h, e := s.link(at, "exe", KindExe)
	keep(e)
	all = append(all, h...)
	mapped, e := s.mapped(at)
	keep(e)
	all = append(all, mapped...)
	if p.Thread == 0 {
		all, e = s.threads(at, all)
		keep(e)
	}
	return all, err
}

// everything looks at what threads of a process need not share.
func (s *search) everything(at inspected) (all []held, err error) {
	all, err = s.directories(at)
	files, e := s.descriptors(at)
	if err == nil {
		err = e
	}
	return slices.Concat(all, files, s.inNamespace(at)), err
}

func (s *search) directories(at inspected) (all []held, err error) {
	for _, l := range []struct {
		name string
		kind Kind
	}{{"cwd", KindCwd}, {"root", KindRoot}} {
		h, e := s.link(at, l.name, l.kind)
		if err == nil && e != nil && !gone(e) {
			err = e
		}
		all = append(all, h...)
	}
	return all, err
}

// inspected is a process or thread that is looked at.
type inspected struct {
	process namespaces.Process
	task    *linux.ProcTask
	dir     string
	prefix  string // of its links below the process: "task/7/"
}

// gone reports an error about a process, or a descriptor, that is not there any
// more.
func gone(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH)
}

func (s *search) descriptors(at inspected) (all []held, err error) {
	names, err := at.task.Names("fd", maxDescriptors)
	if err != nil {
		if gone(err) {
			err = nil
		}
		return nil, err
	}
	for _, name := range names {
		h, e := s.link(at, "fd/"+name, KindOpenFile)
		if err == nil && e != nil && !gone(e) {
			err = e
		}
		all = append(all, h...)
	}
	return all, err
}

// link looks at what one link of a process leads to.
func (s *search) link(at inspected, name string, kind Kind) ([]held, error) {
	text, err := at.task.Link(name)
	if err != nil {
		return nil, err
	}
	shown := at.prefix + name
	if !strings.HasPrefix(text, "/") {
		if targets := s.want.namespaces[text]; len(targets) > 0 {
			return []held{{kind: KindNamespaceFile, file: File{Link: shown, Path: text}, targets: targets, text: shown + " -> " + text}}, nil
		}
		if strings.Contains(text, ":") && !strings.HasPrefix(text, "(") {
			return nil, nil // a socket, a pipe, an anonymous inode
		}
	}
	st, err := s.Stat(at.dir + "/" + name)
	if err != nil {
		return nil, err
	}
	f := File{Link: shown, Path: text, MountID: st.MountID}
	if targets := s.want.blocks[st.Block]; !st.Block.IsZero() && len(targets) > 0 {
		return []held{{kind: KindOpenDevice, file: f, targets: targets, on: st.Block, text: fmt.Sprintf("%s -> %s (block device %s)", shown, text, st.Block)}}, nil
	}
	h := held{kind: kind, file: f, text: fmt.Sprintf("%s -> %s (device %s, mount %d)", shown, text, st.Device, st.MountID)}
	s.onMount(&h, at, name, st)
	if len(h.targets)+len(h.may) == 0 {
		return nil, nil
	}
	return []held{h}, nil
}

// onMount finds the targets that a file is of, by the mount that it is on. The
// device alone tells it for a file whose mount is in no table: one that was
// lazily unmounted.
func (s *search) onMount(h *held, at inspected, name string, st Stat) {
	m, ok := s.mounts.byID[st.MountID]
	if !ok {
		parts := s.want.superblocks[st.Device]
		if len(parts) == 0 {
			parts = s.subvolume(at, name, st)
		}
		if len(parts) == 0 {
			return
		}
		var err error
		if m, err = s.younger(at.process, st.MountID); err != nil || !m.there {
			h.file.Detached = err == nil
			for _, part := range parts {
				h.of(part, part.Whole(), true)
			}
			return
		}
	}
	h.file.own, h.file.slave = m.own, m.slave
	rest, known := facts.Below(strings.TrimSuffix(h.file.Path, " (deleted)"), m.entry.MountPoint)
	root := m.entry.Identity()
	for _, part := range s.want.superblocks[m.entry.Device] {
		file := facts.Identity{Device: root.Device, Root: facts.JoinRoot(root.Root, rest)}
		h.of(part, part.Holds(root) || known && part.Holds(file), !known && part.Shows(root))
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
func (s *search) inNamespace(at inspected) []held {
	for ns, targets := range s.want.namespaces {
		kind, _, ok := strings.Cut(ns, ":")
		if !ok || strings.Contains(kind, "/") {
			continue
		}
		if text, err := at.task.Link("ns/" + kind); err == nil && text == ns {
			return []held{{kind: KindNamespaceUser, file: File{Link: at.prefix + "ns/" + kind, Path: text}, targets: targets, text: at.prefix + "ns/" + kind + " -> " + text}}
		}
	}
	return nil
}
