package exposure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/mountward/mountward/pkg/internal/linux"
	"github.com/mountward/mountward/pkg/internal/wait"
	"github.com/mountward/mountward/pkg/namespaces"
)

const (
	maxDescriptors = 1 << 17 // of one process
	maxStuck       = 16      // processes that are left behind without an answer
	// patience is how long one process is waited for.
	patience = 2 * time.Second
)

// open looks at what the processes have open or stand in, for what no mount of
// their namespace shows: it was lazily unmounted, is mounted over, or came as a
// descriptor from another namespace. Nothing is opened. The node's own processes
// are not looked at: they reach all there is.
func (f *finder) open(ctx context.Context, all []*sight) []namespaces.Unknown {
	type job struct {
		sight   *sight
		who     int
		process namespaces.Process
		files   []openFile
		err     error
	}
	var jobs []*job
	f.threads = map[int]bool{}
	for _, s := range all {
		for i := range s.whos {
			for _, p := range s.whos[i].members {
				f.threads[p.Thread] = true
			}
			if s.whos[i].Kind == KindHost {
				continue
			}
			for _, p := range s.whos[i].members {
				jobs = append(jobs, &job{sight: s, who: i, process: p})
			}
		}
	}
	work := make(chan *job)
	var readers sync.WaitGroup
	var mu sync.Mutex
	stuck := 0
	for range min(maxReaders, runtime.GOMAXPROCS(0)) {
		readers.Go(func() {
			for j := range work {
				mu.Lock()
				enough := stuck >= maxStuck
				mu.Unlock()
				if enough {
					j.err = fmt.Errorf("%d other processes did not answer", maxStuck)
					continue
				}
				type answer struct {
					files []openFile
					err   error
				}
				a, err := wait.For(ctx, patience, func() (answer, error) {
					files, err := f.openBy(j.sight, j.process)
					return answer{files, err}, nil
				}, nil)
				if errors.Is(err, wait.ErrNoAnswer) {
					mu.Lock()
					stuck++
					mu.Unlock()
					a.err = err
				}
				j.files, j.err = a.files, a.err
			}
		})
	}
	for _, j := range jobs {
		work <- j
	}
	close(work)
	readers.Wait()
	var unknown unread
	for _, j := range jobs {
		unknown.add(j.process, j.err)
		for _, file := range j.files {
			f.reached(ctx, j.sight, j.who, j.process, file, &unknown)
		}
	}
	return unknown.told()
}

// openBy returns what a process has open on what is wanted. One that has ended
// has nothing. The error is what could not be read; what could is returned too.
func (f *finder) openBy(s *sight, p namespaces.Process) (all []openFile, err error) {
	task, err := linux.OpenProcTask(f.Proc, strings.TrimPrefix(f.procDir(p), f.Proc+"/"))
	if gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = task.Close() }() // nothing was written
	all, err = f.linksOf(s, opened{task: task, dir: f.procDir(p)}, true, true)
	if p.Thread == 0 {
		more, e := f.ofThreads(s, task, p)
		all, err = append(all, more...), cmp.Or(err, e)
	}
	return all, err
}

// opened is a task whose links are looked at.
type opened struct {
	task   *linux.ProcTask
	dir    string
	prefix string // of its links below the process: "task/7/"
}

// linksOf looks at the directories and the program of a task, and at its
// descriptors.
func (f *finder) linksOf(s *sight, at opened, directories, descriptors bool) (all []openFile, err error) {
	var links []string
	if directories {
		links = []string{"cwd", "root", "exe"}
	}
	if descriptors {
		var names []string
		if names, err = at.task.Names("fd", maxDescriptors); gone(err) {
			err = nil
		}
		for _, fd := range names {
			links = append(links, "fd/"+fd)
		}
	}
	for _, link := range links {
		file, e := f.openFile(s, at, link)
		switch {
		case e != nil && !gone(e):
			err = cmp.Or(err, e)
		case e == nil && file != nil:
			file.link = at.prefix + link
			all = append(all, *file)
		}
	}
	return all, err
}

// openFile looks at one link, nil where it leads to nothing that is wanted.
func (f *finder) openFile(s *sight, at opened, link string) (*openFile, error) {
	text, err := at.task.Link(link)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(text, "/") && strings.Contains(text, ":") && !strings.HasPrefix(text, "(") {
		return nil, nil // a socket, a pipe, a namespace
	}
	file := openFile{text: text}
	if file.Stat, err = f.stat(at.dir + "/" + link); err != nil {
		return nil, err
	}
	if err := f.onBtrfs(&file, at.dir+"/"+link); err != nil {
		return nil, err
	}
	if !file.btrfs && !f.couldBe(file.Stat) && !f.ofNode(s, file.Stat) {
		return nil, nil
	}
	return &file, nil
}

// unread collects what could not be read of processes.
type unread struct {
	all    []namespaces.Unknown
	denied int
	first  string
}

func (u *unread) add(p namespaces.Process, err error) {
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrPermission):
		if u.denied++; u.denied == 1 {
			u.first = err.Error()
		}
	default:
		u.all = append(u.all, namespaces.Unknown{What: fmt.Sprintf("open files of process %d (%s)", id(p), p.Comm), Why: err.Error()})
	}
}

func (u *unread) told() []namespaces.Unknown {
	switch u.denied {
	case 0:
		return u.all
	case 1:
		return append(u.all, namespaces.Unknown{What: "open files of 1 process", Why: u.first})
	default:
		return append(u.all, namespaces.Unknown{What: fmt.Sprintf("open files of %d processes", u.denied), Why: u.first + ", and others"})
	}
}
