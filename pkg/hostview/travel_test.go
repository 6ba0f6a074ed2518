package hostview

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// TestAThreadEntersTheRuntimesNamespaceAndThatOfAProcess, where a path leads to what
// the view opened.
func TestAThreadEntersTheRuntimesNamespaceAndThatOfAProcess(t *testing.T) {
	dir := stage(t)
	runtime := holder(t, dir)
	theirs := openView(t, Options{PID: runtime.Pid})
	ours := openView(t, Options{})
	for _, v := range []*View{ours, theirs} {
		process, err := v.OpenProcess(runtime.Pid)
		if err != nil {
			t.Fatal(err)
		}
		there, err := process.Namespace()
		if err != nil {
			t.Fatal(err)
		}
		f, m, err := v.OpenFile(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := v.Lookup(t.Context(), dir); err != nil || again != m || (m.Source == "held") != (v == theirs) {
			t.Errorf("OpenFile says %+v, Lookup %+v, %v", m, again, err)
		}
		var host, inside uint64
		if err := v.Travel(func(thread *linux.Traveller) error {
			var errs [5]error
			errs[0] = v.Enter(thread)
			host, errs[1] = thread.Namespace()
			clone, err := linux.CloneMount(f, false) // only where its mount is
			if err == nil {
				err = clone.Close()
			}
			errs[2] = err
			errs[3] = process.Enter(thread)
			inside, errs[4] = thread.Namespace()
			return errors.Join(errs[:]...)
		}); err != nil {
			t.Error(err)
		}
		if (host == there) != (v == theirs) || inside != there {
			t.Errorf("the thread was in mnt:[%d] for the host and in mnt:[%d] for the process, which is in mnt:[%d]", host, inside, there)
		}
		_ = f.Close()
		_ = process.Close()
	}
}

// TestAnEntryIsOneMount and no other one at the same place.
func TestAnEntryIsOneMount(t *testing.T) {
	dir := stage(t)
	v := openView(t, Options{})
	table, err := v.ContainerTable(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	e, ok := table.At(dir)
	if !ok {
		t.Fatal("no entry")
	}
	is := func() error {
		f, err := linux.OpenPath(nil, dir, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return e.Is(f)
	}
	if err := is(); err != nil {
		t.Error(err)
	}
	mount(t, "over", dir, "tmpfs", 0, "")
	if err := is(); err == nil {
		t.Error("another mount over it passes for it")
	}
	if err := syscall.Unmount(dir, 0); err != nil {
		t.Fatal(err)
	}
	if err := is(); err != nil {
		t.Error(err)
	}
}

// TestOpenFileOfNothing is an error like Lookup's, and opens nothing.
func TestOpenFileOfNothing(t *testing.T) {
	v := openView(t, Options{})
	for _, path := range []string{t.TempDir() + "/absent", "relative"} {
		f, _, err := v.OpenFile(t.Context(), path)
		var cannot *CannotTell
		if f != nil || !errors.As(err, &cannot) || (path == "relative") == errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, %v", path, f, err)
		}
	}
}
