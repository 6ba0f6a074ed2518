package device

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux"
)

// LoopStatus is what a loop device is bound to.
type LoopStatus struct {
	File  facts.DeviceNumber // st_dev of the file, or of the device node
	Block facts.DeviceNumber // the block device behind it, zero for a file
}

// behind finds what a loop device lies on. The path that sysfs has is a label
// only: it can be of another mount namespace, stale, or "(deleted)".
func (d directory) behind(l *Layer, ask func(string) (LoopStatus, error)) error {
	path, bound, err := d.text("loop/backing_file")
	switch {
	case err != nil:
		return err
	case !bound:
		l.Unknown = "bound to nothing"
		return nil
	case ask == nil:
		l.Note, l.Unknown = path, "nobody to ask what is behind it"
		return nil
	}
	l.Note = path
	s, err := ask(l.Name)
	switch {
	case err != nil:
		l.Unknown = err.Error()
	case !s.Block.IsZero():
		l.Lower = []facts.DeviceNumber{s.Block}
	case s.File.Major == 0:
		l.File = s.File
		l.Unknown = fmt.Sprintf("its file is on device number %s, of a file system without a block device of its own", s.File)
	default:
		l.Lower = []facts.DeviceNumber{s.File}
	}
	return nil
}

const (
	loopWait = 50 * time.Millisecond
	maxLoops = 16 // requests, and so threads, that can be stuck at one time
)

var (
	errLoopSlow  = fmt.Errorf("the file system of its file did not answer in %v", loopWait)
	errLoopStuck = errors.New("an earlier request is still waiting for the file system of its file")
	errLoopFull  = fmt.Errorf("%d requests are already waiting for the file systems of other loop devices", maxLoops)
)

// Loops asks loop devices what is behind them. The kernel asks the file system
// of the file in turn, which may be on a server that is dead: no answer is
// waited for longer than 50 ms, and no device asked twice at a time.
type Loops struct {
	ask  func(name string) (LoopStatus, error)
	mu   sync.Mutex
	open map[string]*request
}

// request is one question that several may wait for.
type request struct {
	done   chan struct{}
	stuck  bool
	status LoopStatus
	err    error
}

// NewLoops asks by the device nodes in a directory, "/dev". That takes the
// right to open them for reading, which root has without any capability.
func NewLoops(dev string) *Loops {
	return &Loops{ask: func(name string) (LoopStatus, error) {
		s, err := linux.LoopStatusOf(dev, name)
		return LoopStatus{
			File:  facts.DeviceNumber{Major: s.Major, Minor: s.Minor},
			Block: facts.DeviceNumber{Major: s.BlockMajor, Minor: s.BlockMinor},
		}, err
	}}
}

// Status returns what the loop device with the kernel's name is bound to.
func (l *Loops) Status(name string) (LoopStatus, error) {
	r, err := l.request(name)
	if err != nil {
		return LoopStatus{}, err
	}
	timer := time.NewTimer(loopWait)
	defer timer.Stop()
	select {
	case <-r.done:
		return r.status, r.err
	case <-timer.C:
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-r.done:
		return r.status, r.err
	default:
		r.stuck = true
		return LoopStatus{}, errLoopSlow
	}
}

// request joins the question that is open for the device, or begins one.
func (l *Loops) request(name string) (*request, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r := l.open[name]; r != nil {
		if r.stuck {
			return nil, errLoopStuck
		}
		return r, nil
	}
	if len(l.open) >= maxLoops {
		return nil, errLoopFull
	}
	if l.open == nil {
		l.open = map[string]*request{}
	}
	r := &request{done: make(chan struct{})}
	l.open[name] = r
	go func() {
		r.status, r.err = l.ask(name)
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.open, name)
		close(r.done)
	}()
	return r, nil
}
