package pins

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/target"
)

// realVolume is an ext4 of its own, mounted on the host.
type realVolume struct {
	dir, node string
	number    facts.DeviceNumber
}

func newVolume(t testing.TB) realVolume {
	t.Helper()
	dir := stage(t)
	v := realVolume{dir: dir + "/vol", node: linuxtest.Ext4(t)}
	mountAt(t, v.node, v.dir, "ext4", 0, "")
	write(t, v.dir+"/file", "x")
	info, err := os.Stat(v.node)
	if err != nil {
		t.Fatal(err)
	}
	rdev := info.Sys().(*syscall.Stat_t).Rdev
	v.number = facts.DeviceNumber{Major: uint32(rdev >> 8 & 0xfff), Minor: uint32(rdev&0xff | rdev>>12&0xfff00)}
	return v
}

// alive is what decides: the kernel's own directory of the file system.
func (v realVolume) alive(t testing.TB) bool {
	t.Helper()
	_, err := os.Stat("/sys/fs/ext4/" + filepath.Base(v.node))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func (v realVolume) unmount(t testing.TB) {
	t.Helper()
	if err := syscall.Unmount(v.dir, 0); err != nil {
		t.Fatalf("unmount %s: %v", v.dir, err)
	}
}

// withoutOwnDevices hides by what this process keeps its loop devices bound.
func withoutOwnDevices(path string) (Stat, error) {
	st, err := statMagic(path)
	if strings.HasPrefix(path, fmt.Sprintf("/proc/%d/fd/", os.Getpid())) {
		st.Block = facts.DeviceNumber{}
	}
	return st, err
}

// loopStatus waits as long as it takes, which is more than device.Loops does.
func loopStatus(name string) (device.LoopStatus, error) {
	s, err := linux.LoopStatusOf("/dev", name)
	return device.LoopStatus{
		File:  facts.DeviceNumber{Major: s.Major, Minor: s.Minor},
		Block: facts.DeviceNumber{Major: s.BlockMajor, Minor: s.BlockMinor},
	}, err
}

func realNode(t testing.TB) (Node, target.Node) {
	t.Helper()
	view, err := hostview.Open(hostview.Options{Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = view.Close() })
	home, err := linux.MountNamespace("/proc", "self")
	if err != nil {
		t.Fatal(err)
	}
	census, err := namespaces.Take(t.Context(), namespaces.Options{Proc: "/proc"})
	if err != nil {
		t.Fatal(err)
	}
	devices := device.NewCache(device.FS{Sys: "/sys", Loop: loopStatus}, 1024)
	n := Node{
		Proc: "/proc", Sys: "/sys", KubeletRoot: "/var/lib/kubelet", Home: home, Census: census, Tables: census,
		Devices: devices, Host: view, Opens: DeviceMapper("/dev"), FSType: Probe("/dev"), Again: time.Millisecond,
		Stat: withoutOwnDevices,
	}
	return n, target.Node{Proc: "/proc", Sys: "/sys", KubeletRoot: n.KubeletRoot, Host: view, Devices: devices}
}

// find looks for what holds a target.
func find(t testing.TB, name string, change ...func(*Node)) Report {
	t.Helper()
	n, tn := realNode(t)
	for _, c := range change {
		c(&n)
	}
	targets, err := target.Resolve(t.Context(), tn, name)
	if err != nil || len(targets) != 1 {
		t.Fatalf("%s: %+v, %v", name, targets, err)
	}
	r := Find(t.Context(), n, targets[0])
	// Of a process of the machine that even root cannot read it is right to say
	// so, and of no weight here.
	r.Unknown = slices.DeleteFunc(r.Unknown, func(u namespaces.Unknown) bool {
		return strings.HasPrefix(u.What, "files of ") || strings.HasPrefix(u.What, "descriptors of ")
	})
	// Nor is what can hold it an overlay of somebody else, as of a container of
	// another test that is on its way out.
	r.Suspects = slices.DeleteFunc(r.Suspects, func(s string) bool {
		other := (strings.HasPrefix(s, "overlay ") || strings.HasPrefix(s, "erofs ")) &&
			!slices.ContainsFunc(staged, func(dir string) bool { return strings.Contains(s, " at "+dir+"/") })
		if other {
			t.Logf("not of this test: %s", s)
			r.doubts--
		}
		return other
	})
	for _, u := range r.Unknown {
		t.Logf("cannot tell: %s: %s", u.What, u.Why)
	}
	return r
}

// told is a holder in one line.
func told(r Report) (all []string) {
	for _, h := range r.Holders {
		pid := 0
		if len(h.Processes) > 0 {
			pid = h.Processes[0].PID
		}
		all = append(all, fmt.Sprintf("%s %s %d %s", h.Kind, h.Where, pid, h.Why))
	}
	return all
}

// findLonely is find for a namespace without processes that is held once. Other
// tests of this machine look into such a namespace too, and hold it meanwhile.
func findLonely(t testing.TB, name, want string) Report {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		r := find(t, name)
		if got := told(r); len(got) == 1 && strings.HasPrefix(got[0], want) || time.Now().After(end) {
			wantHolders(t, r, want)
			return r
		}
	}
}

func wantHolders(t testing.TB, r Report, want ...string) {
	t.Helper()
	got := told(r)
	if len(got) != len(want) {
		t.Errorf("%d holders, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
		return
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("holder %d is %q, want %q", i, got[i], want[i])
		}
	}
	for _, h := range r.Holders {
		if len(h.Evidence) == 0 || len(h.Cures) == 0 {
			t.Errorf("%s has %d evidence and %d cures", h.Why, len(h.Evidence), len(h.Cures))
		}
	}
}

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
