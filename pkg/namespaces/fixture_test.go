package namespaces

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// fake is one process of a text of procfs.
type fake struct {
	pid, parent int
	comm        string
	inode       uint64 // 0: the link cannot be read
	uid         int
	cgroup      string
	mounts      string
	root        string
	fds         map[string]string
}

const hostMounts = "27 1 253:0 / / rw shared:1 - ext4 /dev/x rw\n28 27 0:21 / /proc rw - proc proc rw\n"

func fakeProc(t *testing.T, all ...fake) string {
	t.Helper()
	proc := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	write(proc+"/stat", "btime 1700000000\n")
	for _, f := range all {
		dir := fmt.Sprintf("%s/%d", proc, f.pid)
		write(dir+"/stat", fmt.Sprintf("%d (%s) S %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 250 0 0\n", f.pid, f.comm, f.parent))
		write(dir+"/status", fmt.Sprintf("Name:\t%s\nUid:\t0\t%d\t0\t0\n", f.comm, f.uid))
		write(dir+"/cgroup", "0::"+f.cgroup+"\n")
		write(dir+"/mountinfo", f.mounts)
		if f.inode != 0 {
			link(fmt.Sprintf("mnt:[%d]", f.inode), dir+"/ns/mnt")
		}
		if f.root != "" {
			link(f.root, dir+"/root")
		}
		if err := os.MkdirAll(dir+"/fd", 0o755); err != nil {
			t.Fatal(err)
		}
		for n, to := range f.fds {
			link(to, dir+"/fd/"+n)
		}
	}
	return proc
}

func task(id, namespace string, pid int) Task {
	return Task{Container: facts.Container{ID: id}, Bundle: hostview.Bundle{Dir: "/run/containerd/io.containerd.runtime.v2.task/" + namespace + "/" + id}, PID: pid}
}

func TestATextOfProcfsIsACensus(t *testing.T) {
	const container = "40 39 0:50 / / rw - overlay overlay rw\n41 40 253:7 / /data rw - xfs /dev/y rw\n"
	host := func(pid int, comm, cgroup string) fake {
		return fake{pid: pid, comm: comm, inode: 100, cgroup: cgroup, mounts: hostMounts, root: "/"}
	}
	tasks := []Task{task(idA, "k8s.io", 20), task("redis", "default", 30), task("by-namespace", "default", 40), task("recycled", "default", 50), task("hidden", "default", 60)}
	withHold := host(2, "keeper", "/system.slice/keeper.service")
	withHold.fds = map[string]string{"0": "/dev/null", "5": "mnt:[900]", "6": "net:[5]", "7": "mnt:[200] (deleted)"}
	withBind := host(3, "other", "/system.slice/other.service")
	withBind.inode = 150
	withBind.mounts = strings.ReplaceAll(strings.ReplaceAll(hostMounts, "27 ", "127 "), "28 ", "128 ") +
		"129 127 0:4 mnt:[901] /run/k\\040ns rw - nsfs nsfs rw\n130 127 0:4 net:[902] /run/netns/a rw - nsfs nsfs rw\n"
	proc := fakeProc(t,
		host(1, "systemd", "/init.scope"), withHold, withBind,
		fake{pid: 20, parent: 19, comm: ") 1 2 (", inode: 200, uid: 1000, cgroup: "/kubepods/pod" + uid + "/" + idA, mounts: container, root: "/"},
		fake{pid: 21, comm: "nsenter", inode: 200, cgroup: "/system.slice/ssh.service", mounts: container, root: "/"},
		fake{pid: 30, comm: "redis", inode: 300, cgroup: "/default/redis", mounts: container, root: "/"},
		fake{pid: 40, comm: "app", inode: 400, cgroup: "/", mounts: container, root: "/"},
		fake{pid: 41, comm: "child", inode: 400, cgroup: "/", mounts: container, root: "/"},
		host(50, "cron", "/"),
		fake{pid: 60, comm: "kubelet", inode: 600, cgroup: "/system.slice/kubelet.service", mounts: container, root: "/"},
		fake{pid: 70, comm: "runc:[2:INIT]", inode: 700, cgroup: "/user.slice/user-7.slice/user@7.service/cri-containerd-" + idA + ".scope", mounts: container, root: "/"},
		fake{pid: 80, comm: "closed", cgroup: "/", mounts: hostMounts},
		fake{pid: 90, comm: "apart", cgroup: "/", mounts: strings.ReplaceAll(container, "40 ", "440 ")},
		fake{pid: 91, comm: "ended", cgroup: "/"},
	)
	c, err := Take(context.Background(), Options{Proc: proc, Tasks: tasks})
	if err != nil || c.Rung != RungProc {
		t.Fatalf("rung %q: %v", c.Rung, err)
	}
	want := []*Namespace{
		{PIDs: []int{90}},
		{Inode: 100, PIDs: []int{1, 2, 50, 80}},
		{Inode: 150, PIDs: []int{3}},
		{Inode: 200, PIDs: []int{20, 21}},
		{Inode: 300, PIDs: []int{30}},
		{Inode: 400, PIDs: []int{40, 41}},
		{Inode: 600, PIDs: []int{60}},
		{Inode: 700, PIDs: []int{70}},
		{Inode: 900, Holds: []Hold{{PID: 2, FD: 5}}},
		{Inode: 901, Holds: []Hold{{Path: "/run/k ns", In: 150}}},
	}
	if diff := cmp.Diff(want, c.Namespaces, cmpopts.IgnoreUnexported(Namespace{})); diff != "" {
		t.Error(diff)
	}
	owners := map[int]string{1: "", 3: "", 20: idA, 21: idA, 30: "redis", 40: "by-namespace", 41: "by-namespace", 50: "", 60: "", 70: "", 80: ""}
	for pid, want := range owners {
		p, ok := c.Process(pid)
		got := ""
		if p.Owner.Task != nil {
			got = p.Owner.Task.Container.ID
		}
		if !ok || got != want {
			t.Errorf("process %d is of container %q, want %q", pid, got, want)
		}
	}
	if p, _ := c.Process(70); p.Owner.ContainerID != idA || !strings.Contains(p.Owner.Why, "user") {
		t.Errorf("a cgroup that a user named: %+v", p.Owner)
	}
	if p, _ := c.Process(20); p.Comm != ") 1 2 (" || p.UID == nil || *p.UID != 1000 || p.Parent != 19 || p.Started.UnixMilli() != 1700000002500 || p.Owner.PodUID != uid {
		t.Errorf("%+v", p)
	}
	for _, n := range c.Namespaces {
		table, err := c.Table(context.Background(), n)
		if len(n.PIDs) == 0 {
			if err == nil {
				t.Errorf("%s: a table of %d mounts from nowhere", n, table.Len())
			}
			continue
		}
		if err != nil || table.Len() < 2 {
			t.Errorf("%s: %v", n, err)
		}
	}
	if _, err := Take(context.Background(), Options{Proc: proc, Rung: RungKernel}); err == nil {
		t.Error("the kernel's list of a text")
	}
}

func TestWhereOnlyAPartIsSeenNothingIsTold(t *testing.T) {
	jailed := fake{pid: 5, comm: "jailed", inode: 500, root: "/srv/jail", mounts: "50 49 0:9 / /tmp rw - tmpfs t rw\n"}
	c, err := Take(context.Background(), Options{Proc: fakeProc(t, jailed)})
	if err != nil {
		t.Fatal(err)
	}
	n, _ := c.At(500)
	var cannot *hostview.CannotTell
	if table, err := c.Table(context.Background(), n); !errors.As(err, &cannot) || !strings.Contains(err.Error(), "/srv/jail") || errors.Is(err, ErrGone) {
		t.Errorf("%v %v", table, err)
	}
	torn := fake{pid: 6, comm: "torn", inode: 600, root: "/", mounts: hostMounts + "29 27 0:3 / /half"}
	if c, err = Take(context.Background(), Options{Proc: fakeProc(t, torn)}); err != nil {
		t.Fatal(err)
	}
	n, _ = c.At(600)
	if table, err := c.Table(context.Background(), n); err == nil || errors.Is(err, ErrGone) {
		t.Errorf("%v %v", table, err)
	}
	if len(c.Unknown) == 0 {
		t.Error("what is bound there cannot be told, and that is not said")
	}
}

func TestTheBestOfThoseWhoseRootIsNotKnownIsRead(t *testing.T) {
	proc := fakeProc(t,
		fake{pid: 5, comm: "jailed", inode: 500, mounts: "51 50 0:9 / / rw - tmpfs t rw\n"},
		fake{pid: 6, comm: "free", inode: 500, mounts: hostMounts},
	)
	c, err := Take(context.Background(), Options{Proc: proc})
	if err != nil {
		t.Fatal(err)
	}
	n, _ := c.At(500)
	if table, err := c.Table(context.Background(), n); err != nil || table.Len() != 2 {
		t.Errorf("%v", err)
	}
}

func TestWhatCannotBeReadIsSaid(t *testing.T) {
	proc := fakeProc(t, fake{pid: 1, comm: "init", inode: 100, mounts: hostMounts, root: "/"}, fake{pid: 2, comm: "broken", inode: 100, mounts: hostMounts})
	if err := os.WriteFile(proc+"/2/stat", []byte("no line"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Take(context.Background(), Options{Proc: proc})
	if err != nil || len(c.Unknown) != 1 || c.Unknown[0].What != "process 2" {
		t.Errorf("%+v %v", c.Unknown, err)
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	c, err = Take(canceled, Options{Proc: proc})
	if err != nil || len(c.Unknown) == 0 || c.Unknown[0].What != "2 processes from 1 on" {
		t.Errorf("%+v %v", c.Unknown, err)
	}
	if c, err := Take(context.Background(), Options{Proc: proc + "/absent"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%+v %v", c, err)
	}
	if c, err := Take(context.Background(), Options{Rung: "best"}); err == nil {
		t.Errorf("%+v", c)
	}
}

func TestAnEmptyCensusKnowsNothing(t *testing.T) {
	c := &Census{Namespaces: []*Namespace{{Inode: 5, PIDs: []int{7}}}, Processes: []Process{{PID: 7}, {PID: 8}, {PID: 8, Thread: 9}}}
	if _, ok := c.At(0); ok {
		t.Error("a namespace without a number was found by it")
	}
	if n, ok := c.Of(7); !ok || n.Inode != 5 || len(c.Members(n)) != 1 {
		t.Error("a census that was put together is searched like one that was taken")
	}
	if p, ok := c.Process(9); !ok || p.PID != 8 || p.Thread != 9 {
		t.Errorf("%+v", p)
	}
	if p, ok := c.Process(10); ok {
		t.Errorf("%+v", p)
	}
	if _, err := c.Table(context.Background(), c.Namespaces[0]); err == nil {
		t.Error("a table of nothing")
	}
}
