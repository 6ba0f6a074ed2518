package pins

import (
	"os"
	"slices"
	"strconv"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// maxThreads bounds the threads that are looked at of one process.
const maxThreads = 1 << 16

// threads looks at the threads of a process that have left it: with a table of
// descriptors, or a root and a working directory, of their own, or in another
// namespace that was asked about. The kernel tells which by a comparison; where
// it does not, each is looked at. all is what the process has.
func (s *search) threads(at inspected, all []held) ([]held, error) {
	names, err := at.task.Names("task", maxThreads)
	if err != nil {
		if gone(err) {
			err = nil
		}
		return all, err
	}
	for _, name := range names {
		tid, err := strconv.Atoi(name)
		if err != nil || tid == at.process.PID {
			continue // "." and ".." are none either
		}
		if p, ok := s.byPID[tid]; ok && p.Thread == tid {
			continue // it is looked at by itself
		}
		files, e := s.thread(at, name, tid)
		if e != nil && !gone(e) {
			return all, e
		}
		for _, f := range files {
			if !slices.ContainsFunc(all, func(h held) bool { return h.same(f) }) {
				all = append(all, f)
			}
		}
	}
	return all, nil
}

// same reports what a thread shares with its process.
func (h *held) same(of held) bool {
	return h.kind == of.kind && h.file.Path == of.file.Path && h.file.MountID == of.file.MountID && h.on == of.on
}

func (s *search) thread(at inspected, name string, tid int) (all []held, err error) {
	files, directories := s.shares(at.process.PID, tid)
	if files && directories && len(s.want.namespaces) == 0 {
		return nil, nil
	}
	task, err := linux.OpenProcTask(s.Proc, strconv.Itoa(at.process.PID)+"/task/"+name)
	if err != nil {
		return nil, err
	}
	defer task.Close()
	of := inspected{process: at.process, task: task, dir: at.dir + "/task/" + name, prefix: "task/" + name + "/"}
	if !directories {
		h, e := s.directories(of)
		all, err = append(all, h...), e
	}
	if !files {
		h, e := s.descriptors(of)
		all = append(all, h...)
		if err == nil {
			err = e
		}
	}
	return append(all, s.inNamespace(of)...), err
}

// shares tells what a thread is known to share with its process. Numbers of
// another pid namespace than ours tell nothing.
func (s *search) shares(pid, tid int) (files, directories bool) {
	if !s.ourNumbers {
		return false, false
	}
	files, err := linux.SharesFiles(pid, tid)
	files = files && err == nil
	directories, err = linux.SharesDirectories(pid, tid)
	return files, directories && err == nil
}

// ourNumbers reports whether a procfs has the numbers of our own pid namespace.
func ourNumbers(proc string) bool {
	self, err := os.Readlink(proc + "/self")
	return err == nil && self == strconv.Itoa(os.Getpid())
}
