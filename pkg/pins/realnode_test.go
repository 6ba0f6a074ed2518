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
