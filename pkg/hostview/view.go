package hostview

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux"
)

// The rungs, as in Options.Rung and facts.HostMount.Rung.
const (
	RungStatmount = "statmount" // Linux 6.8
	RungMountinfo = "mountinfo" // Linux 5.8
)

// DefaultWait is how long a lookup waits for a path that is not cached.
const DefaultWait = 50 * time.Millisecond

// Options say whose view it is. The zero value is our own.
type Options struct {
	Proc string        // where procfs is mounted; "/proc"
	PID  int           // the runtime's process, as our pid namespace counts; 0 is ourselves
	Rung string        // "" for the best there is, RungStatmount or RungMountinfo to force one
	Wait time.Duration // for a path that is not cached; 0 is DefaultWait
}

// View is the mount namespace of the runtime. It may be used by many
// goroutines.
type View struct {
	proc      string
	pid       int
	rung      string
	namespace facts.Answer
	nsID      uint64 // for statmount; 0 is our own
	walker    *walker
	walkErr   error // why there is no walker
	root      *os.File
	process   *linux.PidFD // nil where the kernel has no pidfd
	cache     *cache
}

// Open opens the view. The runtime's process is held by a pidfd, its mount
// namespace by an open mountinfo; neither needs a capability. Where the
// runtime's mount namespace is not ours, paths can only be walked with the
// rights of PTRACE_MODE_READ over the process.
func Open(o Options) (*View, error) {
	if o.Proc == "" {
		o.Proc = "/proc"
	}
	if o.PID == 0 {
		o.PID = os.Getpid()
	}
	if o.Wait == 0 {
		o.Wait = DefaultWait
	}
	v := &View{proc: o.Proc, pid: o.PID}
	if err := v.open(o); err != nil {
		return nil, errors.Join(fmt.Errorf("open host view of process %d: %w", o.PID, err), v.Close())
	}
	return v, nil
}

func (v *View) open(o Options) error {
	var err error
	if v.process, err = linux.OpenPidFD(v.pid); err != nil && !errors.Is(err, linux.ErrNotSupported) {
		return err
	}
	if v.cache, err = newCache(v.proc+"/"+strconv.Itoa(v.pid)+"/mountinfo", v.process); err != nil {
		return err
	}
	v.namespace = sameNamespace(v.proc, v.pid)
	walk := linux.NoMagicLinks
	if v.namespace.Truth != facts.Yes {
		if v.root, err = linux.OpenMagic(fmt.Sprintf("%s/%d/root", v.proc, v.pid)); err != nil {
			v.walkErr = fmt.Errorf("needs a path walk in the runtime's mount namespace without the right to make one (%w)", err)
		}
		walk |= linux.InRoot
	}
	if v.walkErr == nil {
		v.walker = newWalker(v.root, walk, o.Wait)
	}
	if err := v.climb(o.Rung); err != nil {
		return err
	}
	v.findTypes()
	return nil
}

// climb finds the rung. A kernel that refuses statmount for whatever reason
// still has the table.
func (v *View) climb(rung string) error {
	if rung != "" && rung != RungStatmount && rung != RungMountinfo {
		return fmt.Errorf("rung %q: want %q or %q", rung, RungStatmount, RungMountinfo)
	}
	v.rung = RungMountinfo
	if rung == RungMountinfo {
		return nil
	}
	err := v.tryStatmount()
	if err == nil {
		v.rung = RungStatmount
	} else if rung == RungStatmount {
		return err
	}
	return nil
}

func (v *View) tryStatmount() error {
	if v.walker == nil {
		return v.walkErr
	}
	if v.root != nil {
		var err error
		if v.nsID, err = linux.NamespaceID(v.proc, v.pid); err != nil {
			return err
		}
	}
	f, err := v.walker.top()
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = v.statmount(f)
	return err
}

// Patient returns the same view with another wait, for what no container waits
// for: a disk under load can take longer than a start may. It ends with the
// view it was made from and is not closed.
func (v *View) Patient(wait time.Duration) *View {
	patient := *v
	if v.walker != nil {
		w := *v.walker
		w.wait, w.most = wait, maxPatient
		patient.walker = &w
	}
	return &patient
}

// Rung returns the rung in use.
func (v *View) Rung() string { return v.rung }

// Namespace answers whether our mount namespace is the runtime's.
func (v *View) Namespace() facts.Answer { return v.namespace }

// Close ends the background work. A helper that is stuck in a path walk is not
// waited for.
func (v *View) Close() error {
	var errs []error
	if v.cache != nil {
		errs = append(errs, v.cache.close())
	}
	if v.process != nil {
		errs = append(errs, v.process.Close())
	}
	if v.walker != nil {
		errs = append(errs, v.walker.close())
	}
	return errors.Join(errs...)
}
