package hostview

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

func TestTheViewIsTheRuntimesNamespaceNotOurs(t *testing.T) {
	dir := stage(t)
	at := mkdir(t, dir+"/at")
	runtime := holder(t, at)
	for _, rung := range []string{RungStatmount, RungMountinfo} {
		t.Run(rung, func(t *testing.T) {
			v := openView(t, Options{PID: runtime.Pid, Rung: rung})
			if v.Namespace().Truth != facts.No {
				t.Errorf("namespace: %+v, want no", v.Namespace())
			}
			m, err := v.Lookup(context.Background(), at+"/link")
			if err != nil {
				t.Fatal(err)
			}
			want := facts.HostMount{Canonical: at + "/sub", MountPoint: at, Root: "/", FSType: "tmpfs", Source: "held", Rung: rung, MountID: m.MountID, Device: m.Device}
			if diff := cmp.Diff(want, m); diff != "" {
				t.Error(diff)
			}
			if m, err := v.Lookup(context.Background(), at+"/../../../../../../../../.."+at); err != nil || m.MountPoint != at {
				t.Errorf("above the root: %+v %v", m, err)
			}
		})
	}
	if _, err := openView(t, Options{}).Lookup(context.Background(), at+"/sub"); err == nil {
		t.Error("our own namespace has the runtime's mount")
	}
}

func TestWithoutRightsOnlyTheTableIsKnown(t *testing.T) {
	dir := stage(t)
	at := mkdir(t, dir+"/at")
	nobody := &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}

	same := looker(t, nobody, os.Getpid(), "/proc")
	if same.Open != "" || same.Namespace.Truth != facts.Yes || same.Mount.MountPoint != "/proc" {
		t.Errorf("in our namespace: %+v, want yes and a mount", same)
	}
	other := looker(t, nobody, holder(t, at).Pid, at+"/sub")
	if other.Open != "" || other.Namespace.Truth != facts.No || other.Mounts == 0 {
		t.Errorf("in another namespace: %+v, want no and a table", other)
	}
	if !strings.Contains(other.Lookup, "cannot tell: needs a path walk in the runtime's mount namespace without the right to make one") {
		t.Errorf("in another namespace: lookup says %q", other.Lookup)
	}
}

func TestARuntimeThatIsGoneIsAnError(t *testing.T) {
	dir := stage(t)
	runtime := holder(t, mkdir(t, dir+"/at"))
	v := openView(t, Options{PID: runtime.Pid})
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if _, err := v.Table(ctx); err != nil {
		t.Fatal(err)
	}
	if err := runtime.Kill(); err != nil {
		t.Fatal(err)
	}
	for {
		_, err := v.Table(ctx)
		if errors.Is(err, errRuntimeGone) {
			break
		}
		if err != nil {
			t.Fatalf("%v, want %v", err, errRuntimeGone)
		}
		time.Sleep(time.Millisecond)
	}
	if _, err := Open(Options{PID: 1 << 30}); err == nil {
		t.Error("a process that never was has a view")
	}
}

func TestTheTableFollowsTheKernel(t *testing.T) {
	dir := stage(t)
	v := openView(t, Options{})
	ctx := context.Background()
	first, err := v.Table(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := v.Table(ctx); err != nil || again != first {
		t.Errorf("an unchanged table was read again (%v)", err)
	}
	for i := range 50 {
		at := mkdir(t, dir+"/a")
		mount(t, "v", at, "tmpfs", 0, "")
		if table, err := v.Table(ctx); err != nil {
			t.Fatal(err)
		} else if _, ok := table.At(at); !ok {
			t.Fatalf("round %d: the new mount is not in the table", i)
		}
		detach(t, at)
		if table, err := v.Table(ctx); err != nil {
			t.Fatal(err)
		} else if _, ok := table.At(at); ok {
			t.Fatalf("round %d: the mount is still in the table", i)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := v.Reread(cancelled); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if now, err := v.Reread(ctx); err != nil || now == first {
		t.Errorf("reread gave the old table (%v)", err)
	}
}

func TestAForcedRungIsTakenOrRefused(t *testing.T) {
	for _, rung := range []string{RungStatmount, RungMountinfo} {
		if v := openView(t, Options{Rung: rung}); v.Rung() != rung {
			t.Errorf("asked %q, got %q", rung, v.Rung())
		}
	}
	if _, err := Open(Options{Rung: "stat"}); err == nil || !strings.Contains(err.Error(), `"statmount"`) {
		t.Errorf("unknown rung: %v", err)
	}
}
