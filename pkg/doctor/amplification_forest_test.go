package doctor

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	goruntime "runtime"
	"strings"
	"syscall"
	"time"

	"github.com/mountward/mountward/pkg/hostview"
)

// thread is one in a mount namespace of its own, which ends with it.
type thread struct {
	inode uint64
	path  string // in procfs
	work  chan func()
}

// newThread copies the mount namespace of another one, or the process's.
func newThread(from *thread) (*thread, error) {
	var ns *os.File
	if from != nil {
		if err := from.do(func() (err error) { ns, err = os.Open("/proc/thread-self/ns/mnt"); return err }); err != nil {
			return nil, err
		}
		defer ns.Close()
	}
	s := &thread{work: make(chan func())}
	ready := make(chan error)
	go s.live(ns, ready)
	if err := <-ready; err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

// end waits for the thread, and so for its namespace, to be gone: until then it
// passes mounts on.
func (s *thread) end() {
	close(s.work)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(100 * time.Microsecond) {
		if _, err := os.Lstat(s.path); err != nil {
			return
		}
	}
}

func (s *thread) live(ns *os.File, ready chan<- error) {
	goruntime.LockOSThread() // never unlocked: the thread ends with the goroutine
	if syscall.Gettid() == syscall.Getpid() {
		defer goruntime.UnlockOSThread() // Go never ends the first thread
		ended := make(chan struct{})
		go func() { defer close(ended); s.live(ns, ready) }()
		<-ended
		return
	}
	s.path = fmt.Sprintf("/proc/self/task/%d", syscall.Gettid())
	ready <- s.enter(ns)
	for f := range s.work {
		f()
	}
}

// setns is the number of setns(2), which package syscall does not have.
var setns = map[string]uintptr{"amd64": 308, "arm64": 268, "riscv64": 268, "ppc64le": 350, "s390x": 339}[goruntime.GOARCH]

func (s *thread) enter(ns *os.File) error {
	if err := syscall.Unshare(syscall.CLONE_FS); err != nil {
		return err
	}
	if ns != nil {
		if _, _, errno := syscall.RawSyscall(setns, ns.Fd(), syscall.CLONE_NEWNS, 0); errno != 0 {
			return errno
		}
	}
	if err := syscall.Unshare(syscall.CLONE_NEWNS); err != nil {
		return err
	}
	var st syscall.Stat_t
	err := syscall.Stat("/proc/thread-self/ns/mnt", &st)
	s.inode = st.Ino
	return err
}

// do runs f in the namespace.
func (s *thread) do(f func() error) error {
	done := make(chan error)
	s.work <- func() { done <- f() }
	return <-done
}

// forest is three mount namespaces with random mounts below one directory.
type forest struct {
	*rand.Rand
	dir    string
	spaces []*thread
	paths  []string // all that can exist
	log    []string
}

const names = "ab"

func newForest(dir string, seed uint64) (*forest, error) {
	f := &forest{Rand: rand.New(rand.NewPCG(seed, 4)), dir: dir}
	f.paths = below(dir, 3)
	s, err := newThread(nil)
	if err != nil {
		return nil, err
	}
	f.spaces = append(f.spaces, s)
	err = s.do(func() error {
		if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
			return err
		}
		if err := f.tmpfs(dir); err != nil || f.IntN(5) == 0 {
			return err
		}
		return syscall.Mount("", dir, "", syscall.MS_SHARED, "")
	})
	for range 6 {
		f.step()
	}
	for len(f.spaces) < 3 && err == nil {
		if s, err = f.copy(f.spaces[len(f.spaces)-1]); err == nil {
			f.spaces = append(f.spaces, s)
			f.log = append(f.log, fmt.Sprintf("namespace %d: mnt:[%d]", len(f.spaces)-1, s.inode))
			f.step()
			f.step()
		}
	}
	if err != nil {
		f.close()
		return nil, fmt.Errorf("make mount namespaces: %w", err)
	}
	return f, nil
}

func below(dir string, depth int) []string {
	all := []string{dir}
	if depth > 0 {
		for _, name := range names {
			all = append(all, below(dir+"/"+string(name), depth-1)...)
		}
	}
	return all
}

// close ends the namespaces, and with them all their mounts.
func (f *forest) close() {
	for _, s := range f.spaces {
		s.end()
	}
}

func (f *forest) path() string { return f.paths[f.IntN(len(f.paths))] }

// tmpfs mounts one that has the directories which others can be mounted on.
func (f *forest) tmpfs(at string) error {
	if err := syscall.Mount("tree", at, "tmpfs", 0, "size=64k"); err != nil {
		return err
	}
	for _, p := range below(at, 2)[1:] {
		if err := os.Mkdir(p, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// mounts are the mount points below the directory.
func (f *forest) mounts(s *thread) []string {
	table, err := f.table(s)
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range table.Below(f.dir) {
		all = append(all, e.MountPoint)
	}
	return append(all, f.dir)
}

// step tries one random thing in one random namespace. The kernel refuses many.
func (f *forest) step() (string, bool) {
	n := f.IntN(len(f.spaces))
	s := f.spaces[n]
	mounts := f.mounts(s)
	mount := mounts[f.IntN(len(mounts))]
	a, b := f.path(), f.path()
	if f.IntN(3) == 0 {
		b = mount // more stacks than chance alone makes
	}
	op, change := f.change(mount, a, b, len(mounts))
	if f.IntN(40) == 0 && len(f.spaces) == 3 {
		op, change = "namespace", func() error { return f.renew(n) }
	}
	var err error
	if op == "namespace" {
		err = change()
	} else {
		err = s.do(change)
	}
	f.log = append(f.log, fmt.Sprintf("%d: %s %s %s (mount %s): %v", n, op, a, b, mount, err))
	return op, err == nil
}

func (f *forest) change(mount, a, b string, mounts int) (string, func() error) {
	word := []string{"shared", "shared", "shared", "shared", "shared", "slave", "slave", "slave", "private", "unbindable"}[f.IntN(10)]
	flag := map[string]uintptr{"shared": syscall.MS_SHARED, "slave": syscall.MS_SLAVE, "private": syscall.MS_PRIVATE, "unbindable": syscall.MS_UNBINDABLE}[word]
	if f.IntN(3) == 0 {
		flag |= syscall.MS_REC
	}
	full := mounts > 25
	switch k := f.IntN(20); {
	case k < 3 && !full:
		return "tmpfs", func() error { return f.tmpfs(b) }
	case k < 6 && !full:
		return "bind", func() error { return syscall.Mount(a, b, "", syscall.MS_BIND, "") }
	case k < 8 && mounts < 12:
		return "rbind", func() error { return syscall.Mount(a, b, "", syscall.MS_BIND|syscall.MS_REC, "") }
	case k < 10:
		return "move", func() error { return syscall.Mount(mount, a, "", syscall.MS_MOVE, "") }
	case k < 12 && a == f.dir:
		return "nothing", func() error { return errors.New("the tree itself") }
	case k == 10:
		return "rename", func() error {
			return syscall.Rename(a, a[:strings.LastIndexByte(a, '/')+1]+string(names[f.IntN(len(names))]))
		}
	case k == 11:
		return "remove", func() error { return syscall.Rmdir(a) }
	case k == 12 || full:
		how := []int{0, syscall.MNT_DETACH}[f.IntN(2)]
		return "unmount", func() error {
			if mount == f.dir && f.IntN(4) != 0 {
				return errors.New("the tree itself")
			}
			return syscall.Unmount(mount, how)
		}
	default:
		return word, func() error { return syscall.Mount("", mount, "", flag, "") }
	}
}

// copy makes a namespace like another, as unshare(1) does or as runtimes and
// systemd do: a slave, or shared below a slave.
func (f *forest) copy(from *thread) (*thread, error) {
	s, err := newThread(from)
	if err != nil {
		return nil, err
	}
	for _, flag := range []uintptr{syscall.MS_SLAVE, syscall.MS_SHARED}[:f.IntN(3)] {
		if err := s.do(func() error { return syscall.Mount("", "/", "", flag|syscall.MS_REC, "") }); err != nil {
			s.end()
			return nil, err
		}
	}
	return s, nil
}

// renew replaces a namespace by a copy of another.
func (f *forest) renew(n int) error {
	s, err := f.copy(f.spaces[(n+1)%len(f.spaces)])
	if err != nil {
		return err
	}
	f.spaces[n].end()
	f.spaces[n] = s
	return nil
}

func (f *forest) table(s *thread) (table *hostview.Table, err error) {
	return table, s.do(func() error {
		file, err := os.Open("/proc/thread-self/mountinfo")
		if err != nil {
			return err
		}
		defer file.Close()
		table, err = hostview.ReadTable(file)
		return err
	})
}

func (f *forest) tables() ([]hostview.NamespaceTable, error) {
	var all []hostview.NamespaceTable
	for _, s := range f.spaces {
		table, err := f.table(s)
		if err != nil {
			return nil, err
		}
		all = append(all, hostview.NamespaceTable{Namespace: s.inode, Table: table})
	}
	return all, nil
}

// report is all that is needed to understand a disagreement.
func (f *forest) report(tables []hostview.NamespaceTable) string {
	var b strings.Builder
	for _, line := range f.log {
		fmt.Fprintln(&b, line)
	}
	for _, n := range tables {
		fmt.Fprintf(&b, "mnt:[%d]\n", n.Namespace)
		for e := range n.Table.All() {
			if strings.HasPrefix(e.MountPoint, f.dir) {
				fmt.Fprintln(&b, "  "+e.Line())
			}
		}
	}
	return strings.ReplaceAll(b.String(), f.dir, "/T")
}
