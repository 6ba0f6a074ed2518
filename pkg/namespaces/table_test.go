package namespaces

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

func lines(table *hostview.Table) (all []string) {
	for e := range table.All() {
		all = append(all, e.Line())
	}
	return all
}

// furnish mounts one of each kind in our own namespace, below a directory.
func furnish(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	mount := func(source, at, fsType string, flags uintptr, data string) string {
		t.Helper()
		at = filepath.Join(dir, at)
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mount(source, at, fsType, flags, data); err != nil {
			t.Fatalf("mount %s on %s: %v", source, at, err)
		}
		return at
	}
	if err := syscall.Mount("stage", dir, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	mount("a source with\nnewline", "options", "tmpfs", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOATIME|syscall.MS_RDONLY, "size=1m")
	mount("", "strict \\ point", "tmpfs", syscall.MS_STRICTATIME|syscall.MS_NOEXEC|syscall.MS_NODIRATIME|syscall.MS_SYNCHRONOUS, "")
	shared := mount("shared", "shared", "tmpfs", 0, "")
	change := func(at string, flags uintptr) {
		t.Helper()
		if err := syscall.Mount("", at, "", flags, ""); err != nil {
			t.Fatalf("change %s: %v", at, err)
		}
	}
	change(shared, syscall.MS_SHARED)
	slave := mount(shared, "slave", "", syscall.MS_BIND, "")
	change(slave, syscall.MS_SLAVE)
	both := mount(shared, "both", "", syscall.MS_BIND, "")
	change(both, syscall.MS_SLAVE)
	change(both, syscall.MS_SHARED)
	change(mount("u", "unbindable", "tmpfs", 0, ""), syscall.MS_UNBINDABLE)
	readonly := mount(shared, "readonly", "", syscall.MS_BIND, "")
	change(readonly, syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY)
	gone := filepath.Join(shared, "gone")
	if err := os.Mkdir(gone, 0o755); err != nil {
		t.Fatal(err)
	}
	mount(gone, "of-gone", "", syscall.MS_BIND, "")
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	var layers []string
	for _, name := range []string{"lower, one", "upper", "work"} {
		at := filepath.Join(dir, name)
		if err := os.Mkdir(at, 0o755); err != nil {
			t.Fatal(err)
		}
		layers = append(layers, strings.ReplaceAll(at, ",", `\,`))
	}
	mount("overlay", "overlay", "overlay", 0, fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", layers[0], layers[1], layers[2]))
	mount("top", "shared", "tmpfs", 0, "") // stacked
}

func TestATableWithoutAProcessIsWhatAProcessSaw(t *testing.T) {
	needRoot(t)
	furnish(t)
	p, inode := holder(t, t.TempDir())
	c := take(t, rungs(t)[0])
	n, ok := c.At(inode)
	if !ok {
		t.Fatalf("mnt:[%d] is not found", inode)
	}
	seen, err := c.Table(context.Background(), n)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", p.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), strings.Join(lines(seen), "\n")+"\n"); diff != "" || seen.Len() < 12 {
		t.Fatalf("%d mounts of the process: %s", seen.Len(), diff)
	}
	entered, err := c.byEntering(context.Background(), n)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lines(seen), lines(entered)); diff != "" {
		t.Errorf("by entering: %s", diff)
	}
	numbered, err := c.byNumber(n)
	if errors.Is(err, linux.ErrNotSupported) || errors.Is(err, errNoNumber) {
		t.Skip("needs Linux 6.11 for the rest: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(lines(seen), lines(numbered)); diff != "" {
		t.Errorf("by number: %s", diff)
	}
}

func TestAProcessThatSeesOnlyAPartIsNotBelieved(t *testing.T) {
	needRoot(t)
	dir, jail := t.TempDir(), t.TempDir()
	p := linuxtest.Start(t, "chroot", ownNamespace(), dir, jail)
	p.Line(t)
	for _, rung := range rungs(t) {
		c := take(t, rung)
		n, ok := c.Of(p.Pid)
		if !ok {
			t.Fatalf("%s: process %d has no namespace", rung, p.Pid)
		}
		if _, err := c.ofProcesses(n, n.PIDs); err == nil || !strings.Contains(err.Error(), jail) {
			t.Errorf("%s: by the process alone: %v, want its root directory", rung, err)
		}
		if !tableHas(t, c, n, dir) {
			t.Errorf("%s: its mount is not in its table", rung)
		}
	}
}

func TestAProcessThatTookTheLastOnesPlaceIsFound(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	p := linuxtest.Start(t, "leave", ownNamespace(), dir)
	p.Line(t)
	var all []*Census
	for _, rung := range rungs(t) {
		all = append(all, take(t, rung))
	}
	if _, err := p.In.Write([]byte{'\n'}); err != nil {
		t.Fatal(err)
	}
	heir, err := strconv.Atoi(p.Line(t))
	if err != nil {
		t.Fatal(err)
	}
	p.Line(t) // it is ready
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(heir, syscall.SIGKILL) }) // before its input ends
	for _, c := range all {
		n, ok := c.Of(p.Pid)
		if !ok {
			t.Fatalf("%s: process %d has no namespace", c.Rung, p.Pid)
		}
		if got, err := c.find(context.Background(), n); err != nil || got != heir {
			t.Errorf("%s: process %d, want %d (%v)", c.Rung, got, heir, err)
		}
		canceled, cancel := context.WithCancel(context.Background())
		cancel()
		if got, err := c.find(canceled, n); err == nil {
			t.Errorf("%s: not all were looked at, but the answer is %d", c.Rung, got)
		}
		if !tableHas(t, c, n, dir) {
			t.Errorf("%s: its mount is not in its table", c.Rung)
		}
	}
}

func TestANamespaceThatEndsMeanwhileIsNoError(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	for _, rung := range rungs(t) {
		p, inode := holder(t, dir)
		c := take(t, rung)
		p.End()
		n, ok := c.At(inode)
		if !ok {
			t.Fatalf("%s: mnt:[%d] is not found", rung, inode)
		}
		if table, err := c.Table(context.Background(), n); !errors.Is(err, ErrGone) {
			t.Errorf("%s: %v %v, want ErrGone", rung, table, err)
		}
	}
	// Processes come and go while the census is taken.
	stop, churn := make(chan struct{}), sync.WaitGroup{}
	churn.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				p := linuxtest.Start(t, "hold", ownNamespace(), dir)
				_, _ = p.Out.ReadString('\n')
				p.End()
			}
		}
	})
	for range 20 {
		for _, rung := range rungs(t) {
			c := take(t, rung)
			for _, u := range c.Unknown {
				// Some machines guard the first process.
				if !strings.Contains(u.Why, "permission denied") {
					t.Errorf("%s: %+v", rung, u)
				}
			}
			c.Each(context.Background(), 2, func(n *Namespace, table *hostview.Table, err error) {
				if err != nil && !errors.Is(err, ErrGone) {
					t.Errorf("%s: %s: %v", rung, n, err)
				}
			})
		}
	}
	close(stop)
	churn.Wait()
}

func TestEachTableIsHandedOnOnce(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	want := map[uint64]bool{}
	for range 5 {
		_, inode := holder(t, dir)
		want[inode] = true
	}
	c := take(t, rungs(t)[0])
	times := map[uint64]int{}
	c.Each(context.Background(), 3, func(n *Namespace, table *hostview.Table, err error) {
		times[n.Inode]++
		if err != nil && !errors.Is(err, ErrGone) {
			t.Errorf("%s: %v", n, err)
		}
		if !want[n.Inode] || err != nil {
			return
		}
		if e, ok := table.At(dir); !ok || e.Source != "held" {
			t.Errorf("%s: its mount is not in its table", n)
		}
	})
	for _, n := range c.Namespaces {
		if times[n.Inode] != 1 {
			t.Errorf("%s was handed on %d times", n, times[n.Inode])
		}
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	c.Each(canceled, 1, func(n *Namespace, table *hostview.Table, err error) {
		if !errors.Is(err, context.Canceled) && err != nil {
			t.Errorf("%s: %v", n, err)
		}
	})
}
