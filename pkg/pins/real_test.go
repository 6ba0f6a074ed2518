package pins

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
	"github.com/mountward/mountward/pkg/target"
)

func TestTheHostsOwnMount(t *testing.T) {
	v := newVolume(t)
	r := find(t, v.number.String())
	wantHolders(t, r, "mount host 0 it is the host's own mount")
	if r.Alive.Truth != facts.Yes || r.Pinned() == facts.Yes || r.Answer() != facts.Yes {
		t.Errorf("alive %v, pinned %v, answer %v", r.Alive, r.Pinned(), r.Answer())
	}
	if got := r.Holders[0].Cures[0].Commands[0]; !strings.HasSuffix(got, " "+v.dir) {
		t.Errorf("cure %q", got)
	}
}

func TestNothingAtAll(t *testing.T) {
	v := newVolume(t)
	v.unmount(t)
	r := find(t, v.number.String())
	wantHolders(t, r)
	if v.alive(t) || r.Alive.Truth == facts.Yes || r.Answer() != facts.No || len(r.Searched) < 7 {
		t.Errorf("alive %v, answer %v, unknown %v, searched %q", r.Alive, r.Answer(), r.Unknown, r.Searched)
	}
}

func TestAPrivateCopyAndItsCure(t *testing.T) {
	v := newVolume(t)
	p := start(t, "private")
	v.unmount(t)
	if !v.alive(t) {
		t.Fatal("the copy does not pin")
	}
	r := find(t, v.number.String())
	wantHolders(t, r, fmt.Sprintf("mount other %d a private copy", p.Pid))
	h := r.Holders[0]
	if h.Mounts[0].HostPath != v.dir || h.Mounts[0].MountPoint != v.dir {
		t.Errorf("mount %+v, want at %s", h.Mounts[0], v.dir)
	}
	if want := fmt.Sprintf("umount -N /proc/%d/ns/mnt %s", p.Pid, v.dir); h.Cures[0].Commands[0] != want {
		t.Errorf("cure %q, want %q", h.Cures[0].Commands, want)
	}
	if err := umountIn(t, p.Pid, v.dir); err != nil || v.alive(t) {
		t.Errorf("the cure did not free it: %v", err)
	}
	wantHolders(t, find(t, v.number.String()))
}

// TestRemovingTheDirectoryDropsThePrivateCopies is another cure.
func TestRemovingTheDirectoryDropsThePrivateCopies(t *testing.T) {
	v := newVolume(t)
	start(t, "private")
	v.unmount(t)
	if err := os.Remove(v.dir); err != nil || v.alive(t) {
		t.Errorf("rmdir: %v, alive %t", err, v.alive(t))
	}
}

func TestASlaveCopyWithAnOpenFileRefusesTheUnmount(t *testing.T) {
	v := newVolume(t)
	p := start(t, "slave open="+v.dir+"/file")
	if err := syscall.Unmount(v.dir, 0); !errors.Is(err, syscall.EBUSY) {
		t.Fatalf("unmount: %v, want EBUSY", err)
	}
	r := find(t, v.number.String())
	wantHolders(t, r, "mount host 0", fmt.Sprintf("mount other %d a slave copy", p.Pid), fmt.Sprintf("open-file other %d the open file %s/file is on a copy that goes with the host's mount: the host's unmount is refused", p.Pid, v.dir))
	p.End()
	v.unmount(t)
	if v.alive(t) {
		t.Error("it is alive")
	}
}

func TestANamespaceThatOnlyADescriptorKeeps(t *testing.T) {
	v := newVolume(t)
	p := start(t, "private")
	f, err := os.Open(fmt.Sprintf("/proc/%d/ns/mnt", p.Pid))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p.End()
	v.unmount(t)
	r := findLonely(t, v.number.String(), fmt.Sprintf("mount other 0 mounted in a namespace that no process is in; it is kept by fd %d of ", f.Fd()))
	if want := fmt.Sprintf("umount -N /proc/%d/fd/%d %s", os.Getpid(), f.Fd(), v.dir); r.Holders[0].Cures[0].Commands[0] != want {
		t.Errorf("cure %q, want %q", r.Holders[0].Cures[0].Commands, want)
	}
	_ = f.Close()
	waitGone(t, v)
}

func TestANamespaceThatOnlyABindMountKeeps(t *testing.T) {
	v := newVolume(t)
	file := filepath.Dir(v.dir) + "-ns"
	write(t, file, "")
	bindNamespace(t, file)
	v.unmount(t)
	r := findLonely(t, v.number.String(), "mount other 0 mounted in a namespace that no process is in; it is kept by the bind mount "+file)
	last := r.Holders[0].Cures[len(r.Holders[0].Cures)-1]
	if len(last.Commands) != 1 || last.Commands[0] != "umount "+file {
		t.Errorf("cures %+v", r.Holders[0].Cures)
	}
	if err := syscall.Unmount(file, 0); err != nil {
		t.Fatal(err)
	}
	waitGone(t, v)
}

// waitGone waits until the kernel has taken a namespace down, which it does
// later.
func waitGone(t testing.TB, v realVolume) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if !v.alive(t) {
			return
		}
	}
	t.Error("it stays alive")
}

func TestALazyUnmountHidesAWorkingDirectory(t *testing.T) {
	v := newVolume(t)
	p := start(t, "cd="+v.dir)
	if err := syscall.Unmount(v.dir, syscall.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	r := find(t, v.number.String())
	wantHolders(t, r, fmt.Sprintf("cwd host %d its working directory / is on a mount that is in no table: it was lazily unmounted", p.Pid))
	if !r.Holders[0].Files[0].Detached || r.Alive.Truth != facts.Yes {
		t.Errorf("%+v, alive %v", r.Holders[0].Files, r.Alive)
	}
	p.End()
	waitGone(t, v)
}

func TestAMappedFileWithoutADescriptor(t *testing.T) {
	v := newVolume(t)
	p := start(t, "map="+v.dir+"/file")
	if err := syscall.Unmount(v.dir, syscall.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	wantHolders(t, find(t, v.number.String()), fmt.Sprintf("mapped-file host %d", p.Pid))
}

func TestAnOpenDeviceWithoutAFileSystem(t *testing.T) {
	v := newVolume(t)
	v.unmount(t)
	p := start(t, "open="+v.node)
	wantHolders(t, find(t, v.node), fmt.Sprintf("open-device host %d it has the block device %s open", p.Pid, v.node))
}

func TestAnOverlayKeepsItsUpperDirectory(t *testing.T) {
	v := newVolume(t)
	dir := filepath.Dir(v.dir)
	mkdir(t, dir+"/lower")
	mkdir(t, v.dir+"/fs")
	mkdir(t, v.dir+"/work")
	mountAt(t, "overlay", dir+"/over", "overlay", 0, fmt.Sprintf("lowerdir=%s/lower,upperdir=%s/fs,workdir=%s/work", dir, v.dir, v.dir))
	overlay := "overlay-layer host 0 an overlay keeps its layer " + v.dir + "/fs"
	wantHolders(t, find(t, v.number.String()), "mount host 0", overlay)

	v.unmount(t)
	if !v.alive(t) {
		t.Fatal("the overlay does not pin")
	}
	// Without a way to tell the file system it is a suspect, not a culprit.
	r := find(t, v.number.String(), func(n *Node) { n.Host = noUUID{n.Host} })
	wantHolders(t, r)
	if r.Answer() != facts.Unknown || !strings.Contains(strings.Join(r.Suspects, "\n"), "at "+dir+"/over of mnt:[") {
		t.Errorf("answer %v, suspects %q", r.Answer(), r.Suspects)
	}
	// With udev's links it is named.
	r = find(t, v.number.String(), func(n *Node) { n.Host = withUUID{n.Host, uuidOf(t, v.node), v.number} })
	wantHolders(t, r, overlay)
	if want := "umount " + dir + "/over"; !strings.HasSuffix(r.Holders[0].Cures[0].Commands[0], dir+"/over") {
		t.Errorf("cure %q, want %q", r.Holders[0].Cures, want)
	}
	if err := syscall.Unmount(dir+"/over", 0); err != nil || v.alive(t) {
		t.Errorf("unmount of the overlay: %v, alive %t", err, v.alive(t))
	}
}

func TestALoopDeviceOnTheVolume(t *testing.T) {
	v := newVolume(t)
	t.Run("bound", func(t *testing.T) {
		t.Setenv("TMPDIR", v.dir)
		loop := linuxtest.Loop(t, 1<<20)
		for _, name := range []string{v.number.String(), v.dir} {
			r := find(t, name)
			wantHolders(t, r, "loop kernel 0 the loop device "+filepath.Base(loop)+" is bound to "+v.dir+"/", "mount host 0")
			if want := "losetup -d " + loop; r.Holders[0].Cures[0].Commands[0] != want {
				t.Errorf("cure %q, want %q", r.Holders[0].Cures, want)
			}
		}
		wantHolders(t, find(t, v.dir+"/file"))
	})
	wantHolders(t, find(t, v.number.String()), "mount host 0")
}

func TestASubPathOfADeadPod(t *testing.T) {
	v := newVolume(t)
	mkdir(t, v.dir+"/data/sub")
	kubelet := filepath.Dir(v.dir) + "/kubelet"
	left := kubelet + "/pods/11111111-2222-3333-4444-555555555555/volume-subpaths/v/c/0"
	mountAt(t, v.dir+"/data/sub", left, "", syscall.MS_BIND, "")
	v.unmount(t)
	r := find(t, v.number.String(), func(n *Node) { n.KubeletRoot = kubelet })
	wantHolders(t, r, "mount host 0 a subPath that was left behind in the directory of pod 11111111-")
	if h := r.Holders[0]; h.Use != UseLeftover || r.Pinned() != facts.Yes || !strings.HasSuffix(h.Cures[0].Commands[0], " "+left) || h.Mounts[0].Root != "/data/sub" {
		t.Errorf("%+v", h)
	}
	r = find(t, v.number.String(), func(n *Node) { n.KubeletRoot, n.TasksWhy = kubelet, "no right" })
	if h := r.Holders[0]; h.Use != UseUnclear || r.Pinned() != facts.Unknown {
		t.Errorf("told to be left behind, though not all pods are known: %+v", h)
	}
	if err := syscall.Unmount(left, 0); err != nil || v.alive(t) {
		t.Errorf("unmount: %v, alive %t", err, v.alive(t))
	}
}

func TestTwoHoldersAtOnce(t *testing.T) {
	v := newVolume(t)
	a, b := start(t, "private"), start(t, "private")
	v.unmount(t)
	r := find(t, v.number.String())
	if len(r.Holders) != 2 {
		t.Fatalf("%q", told(r))
	}
	pids := map[int]bool{r.Holders[0].Processes[0].PID: true, r.Holders[1].Processes[0].PID: true}
	if !pids[a.Pid] || !pids[b.Pid] {
		t.Errorf("%v, want %d and %d", pids, a.Pid, b.Pid)
	}
}

// TestARootlessHelper: the mounts that a user namespace was given are locked
// together, so that no unmount is offered.
func TestARootlessHelper(t *testing.T) {
	v := newVolume(t)
	p := startIn(t, "private", &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		Credential:  &syscall.Credential{},
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 100000, Size: 65536}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 100000, Size: 65536}},
	})
	v.unmount(t)
	r := find(t, v.number.String())
	wantHolders(t, r, fmt.Sprintf("mount other %d a private copy", p.Pid))
	if err := umountIn(t, p.Pid, v.dir); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("unmount there: %v, want EINVAL: the cures have to be another", err)
	}
	for _, c := range r.Holders[0].Cures {
		if len(c.Commands) > 0 && strings.HasPrefix(c.Commands[0], "umount") {
			t.Errorf("cure %+v", c)
		}
	}
	p.End()
	waitGone(t, v)
}

func TestANamespacesFile(t *testing.T) {
	dir := stage(t)
	p := startIn(t, "wait", &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET})
	file := dir + "/netns"
	write(t, file, "")
	if err := syscall.Mount(fmt.Sprintf("/proc/%d/ns/net", p.Pid), file, "", syscall.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	holder := start(t, "private")
	r := find(t, file)
	wantHolders(t, r, "namespace-file host 0", fmt.Sprintf("namespace-file other %d", holder.Pid), fmt.Sprintf("netns-process host %d", p.Pid))
	p.End()
	if err := syscall.Unmount(file, 0); err != nil {
		t.Fatal(err)
	}
	link := r.Target.NS
	r = Find(t.Context(), first(realNode(t)), target.Target{Name: link, Kind: target.KindNamespace, NS: link})
	wantHolders(t, r, fmt.Sprintf("namespace-file other %d", holder.Pid))
}

func first[A, B any](a A, _ B) A { return a }
