package hostview

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

func TestAProcessIsProvedByTheRootItShows(t *testing.T) {
	const host = "27 1 254:0 / / rw - ext4 /dev/vda rw\n"
	dir := stage(t)
	rootfs := mkdir(t, dir+"/rootfs")
	mount(t, "overlay-like", rootfs, "tmpfs", 0, "")
	v := openView(t, Options{})
	ctx := context.Background()
	m, err := v.Lookup(ctx, rootfs)
	if err != nil {
		t.Fatal(err)
	}
	device := m.Device.String()
	for _, tc := range []struct {
		name, table, rootfs string
		want                facts.Truth
	}{
		{"runc: the superblock of the rootfs", "900 850 " + device + " / / rw - tmpfs x rw\n", rootfs, facts.Yes},
		{"kata: the host's tree", host, rootfs, facts.No},
		{"another directory of the same superblock", "900 850 " + device + " /other / rw - tmpfs x rw\n", rootfs, facts.No},
		{"no root at all", "900 850 " + device + " / /proc rw - tmpfs x rw\n", rootfs, facts.Unknown},
		{"no such rootfs", host, rootfs + "/absent", facts.Unknown},
	} {
		table, err := ReadTable(strings.NewReader(tc.table))
		if err != nil {
			t.Fatal(err)
		}
		if got := v.proveTable(ctx, 1, table, tc.rootfs); got.Truth != tc.want || got.Why == "" {
			t.Errorf("%s: %+v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestALiveProcessIsProved(t *testing.T) {
	dir := stage(t)
	p := holder(t, mkdir(t, dir+"/at"))
	v := openView(t, Options{})
	ctx := context.Background()
	// It was not pivoted: it has the host's tree, as a hypervisor has.
	if got := v.ProveContainer(ctx, p.Pid, dir); got.Truth != facts.No {
		t.Errorf("a process with the host's tree: %+v, want no", got)
	}
	if got := v.ProveContainer(ctx, p.Pid, "/"); got.Truth != facts.Yes {
		t.Errorf("its own root: %+v, want yes", got)
	}
	held, err := v.OpenProcess(p.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if table, err := held.Table(); err != nil || table.Len() == 0 || !held.Alive() {
		t.Errorf("alive: %v", err)
	}
	if got, table := held.ProveTable(ctx, "/"); got.Truth != facts.Yes || table.Len() == 0 {
		t.Errorf("proved with its table: %+v", got)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	var cannot *CannotTell
	if _, err := held.Table(); !errors.As(err, &cannot) || held.Alive() {
		t.Errorf("dead: %v, want cannot tell", err)
	}
	if got := held.Prove(ctx, "/"); got.Truth != facts.Unknown {
		t.Errorf("dead: %+v, want unknown", got)
	}
	if got, table := held.ProveTable(ctx, "/"); got.Truth != facts.Unknown || table != nil {
		t.Errorf("dead: %+v with a table: %t, want unknown without", got, table != nil)
	}
	if got := v.ProveContainer(ctx, 1<<30, "/"); got.Truth != facts.Unknown {
		t.Errorf("no such process: %+v, want unknown", got)
	}
}

func TestABundleIsFoundOrCannotBeTold(t *testing.T) {
	dir := stage(t)
	const id = "c1"
	state := mkdir(t, dir+"/state")
	bundle := mkdir(t, filepath.Join(state, tasks, id))
	rootfs := mkdir(t, bundle+"/rootfs")
	v := openView(t, Options{})
	ctx := context.Background()

	if b, err := v.FindBundle(ctx, id, 0, state); err != nil || b.Dir != bundle || b.Rootfs() != rootfs {
		t.Errorf("state directory: %+v %v", b, err)
	}
	if b, err := v.FindBundle(ctx, id, 0, ""); err == nil {
		t.Errorf("nothing is mounted: %+v", b)
	}
	mount(t, "rootfs", rootfs, "tmpfs", 0, "")
	if b, err := v.FindBundle(ctx, id, 0, ""); err != nil || b.Dir != bundle || !strings.Contains(b.Found, "table") {
		t.Errorf("table: %+v %v", b, err)
	}
	twin := mkdir(t, filepath.Join(dir, "evil", tasks, id, "rootfs"))
	mount(t, "rootfs", twin, "tmpfs", 0, "")
	if b, err := v.FindBundle(ctx, id, 0, ""); err == nil {
		t.Errorf("two that look alike: %+v", b)
	}
	for _, bad := range []string{"", "..", ".", "../" + id, "absent"} {
		var cannot *CannotTell
		if b, err := v.FindBundle(ctx, bad, 0, state); !errors.As(err, &cannot) {
			t.Errorf("%q: %+v %v, want cannot tell", bad, b, err)
		}
	}
}

func TestABundleIsFoundBesideTheShims(t *testing.T) {
	dir := stage(t)
	sandbox, bundle := mkdir(t, filepath.Join(dir, tasks, "sandbox")), mkdir(t, filepath.Join(dir, tasks, "c1"))
	p := holder(t, mkdir(t, dir+"/at"))
	v := openView(t, Options{})
	// The child's parent, this process, plays the shim.
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(sandbox)
	b, err := v.FindBundle(context.Background(), "c1", p.Pid, "")
	if err != nil || b.Dir != bundle || !strings.Contains(b.Found, "shim") {
		t.Errorf("%+v %v", b, err)
	}
	t.Chdir(home)
	if b, err := v.FindBundle(context.Background(), "c1", p.Pid, ""); err == nil {
		t.Errorf("a parent that is no shim: %+v", b)
	}
}

func TestTheParentIsReadWhateverTheName(t *testing.T) {
	for text, want := range map[string]int{
		"7 (sh) S 5 7 7": 5, "7 (a) S 9 (b) R 5 1": 5, "7 (\n) ) S 12 1": 12,
		"": 0, "7 (sh)": 0, "7 (sh) S 0 0": 0, "7 (sh) S x": 0,
	} {
		proc := t.TempDir()
		mkdir(t, proc+"/7")
		if err := os.WriteFile(proc+"/7/stat", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := parentOf(proc, 7); got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %d %v, want %d", text, got, err, want)
		}
	}
	if _, err := parentOf(t.TempDir(), 7); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("no such process: %v", err)
	}
}
