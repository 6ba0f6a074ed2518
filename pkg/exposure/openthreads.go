package exposure

import (
	"os"
	"strconv"

	"github.com/mountward/mountward/pkg/internal/linux"
	"github.com/mountward/mountward/pkg/namespaces"
)

// maxThreads bounds the threads that are looked at of one process.
const maxThreads = 1 << 16

// ofThreads looks at the threads that have descriptors or directories of their
// own. The kernel tells which by a comparison; where it does not, all are looked
// at. Those in a mount namespace of their own are in it by themselves.
func (f *finder) ofThreads(s *sight, process *linux.ProcTask, p namespaces.Process) (all []openFile, err error) {
	names, err := process.Names("task", maxThreads)
	if gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		tid, e := strconv.Atoi(name)
		if e != nil || tid == p.PID || f.threads[tid] {
			continue
		}
		files, directories := f.shares(p.PID, tid)
		if files && directories {
			continue
		}
		task, e := linux.OpenProcTask(f.Proc, strconv.Itoa(p.PID)+"/task/"+name)
		if e == nil {
			var more []openFile
			more, e = f.linksOf(s, opened{task, f.procDir(p) + "/task/" + name, "task/" + name + "/"}, !directories, !files)
			all = append(all, more...)
			_ = task.Close() // nothing was written
		}
		if err == nil && !gone(e) {
			err = e
		}
	}
	return all, err
}

// shares tells what a thread is known to share with its process. Numbers of
// another pid namespace than ours tell nothing.
func (f *finder) shares(pid, tid int) (files, directories bool) {
	if self, err := os.Readlink(f.Proc + "/self"); err != nil || self != strconv.Itoa(os.Getpid()) {
		return false, false
	}
	files, err := linux.SharesFiles(pid, tid)
	files = files && err == nil
	directories, err = linux.SharesDirectories(pid, tid)
	return files, directories && err == nil
}
