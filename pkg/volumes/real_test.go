package volumes

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
	"github.com/mountward/mountward/pkg/verify"
)

// realNode is a directory with a kubelet root, a volume in memory mounted in
// it, and a container whose root is an overlay with its upper directory there.
type realNode struct {
	kubelet, state, target, bundle string
	process                        *linuxtest.Child
}

const config = `{"annotations":{"io.kubernetes.cri.container-type":"container","io.kubernetes.cri.container-name":"main",
"io.kubernetes.cri.sandbox-name":"db-0","io.kubernetes.cri.sandbox-namespace":"prod","io.kubernetes.cri.sandbox-uid":"` + podUID + `"},
"mounts":[{"destination":"/data","type":"bind","source":"%s","options":["rbind","rslave"]}]}`

// memory makes a directory on a tmpfs of its own.
func memory(t testing.TB) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: mounts")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mountAt(t, "stage", dir, "tmpfs", "size=64m")
	return dir
}

func newRealNode(t testing.TB) realNode {
	t.Helper()
	dir := memory(t)
	n := realNode{kubelet: dir + "/kubelet", state: dir + "/state"}
	n.target = n.kubelet + "/pods/" + podUID + "/volumes/kubernetes.io~csi/pvc-1/mount"
	n.bundle = n.state + "/io.containerd.runtime.v2.task/k8s.io/c1"
	mountAt(t, "volume", n.target, "tmpfs", "size=16m")
	write(t, filepath.Dir(n.target)+"/vol_data.json", volumeDataOf1)
	lower := dir + "/lower"
	mkdir(t, lower+"/data", n.target+"/rootfs/fs", n.target+"/rootfs/work", n.bundle)
	write(t, n.bundle+"/config.json", fmt.Sprintf(config, n.target))
	mountAt(t, "overlay", n.bundle+"/rootfs", "overlay",
		fmt.Sprintf("lowerdir=%s,upperdir=%s/rootfs/fs,workdir=%s/rootfs/work", lower, n.target, n.target))
	n.process = container(t, n.bundle+"/rootfs", n.target, "/data")
	write(t, n.bundle+"/init.pid", fmt.Sprint(n.process.Pid))
	return n
}

func (n realNode) survey(t testing.TB, v *hostview.View) Survey {
	t.Helper()
	return Node{View: v, Devices: node(), KubeletRoot: n.kubelet, States: []string{n.state}}.Survey(t.Context())
}

// TestARealTask goes all the way through the kernel, on both rungs.
func TestARealTask(t *testing.T) {
	n := newRealNode(t)
	for _, rung := range []string{hostview.RungStatmount, hostview.RungMountinfo} {
		t.Run(rung, func(t *testing.T) {
			s := n.survey(t, openView(t, rung))
			if len(s.Members) != 1 || len(s.Unknown) != 0 {
				t.Fatalf("%d members, unknown %+v", len(s.Members), s.Unknown)
			}
			m := s.Members[0]
			if m.Identity.Truth != facts.Yes || m.PID != n.process.Pid || m.Container.Pod.UID != podUID {
				t.Errorf("member %+v", m)
			}
			r := m.Rootfs
			if r.Verified.Truth != facts.Yes || r.NoLV != "tmpfs: in memory" || r.Upper != n.target+"/rootfs/fs" || r.Root != "/rootfs/fs" || len(r.Lower) != 1 || r.Lower[0].Device.IsZero() {
				t.Errorf("rootfs %+v", r)
			}
			mount := m.Mounts[0]
			if mount.Device != r.Device || mount.Handle != "handle-1" || mount.Volume != "pvc-1" || mount.Why != "" || mount.Seen == nil || mount.Host == nil {
				t.Errorf("mount %+v", mount)
			}
			for _, mark := range s.Marks {
				t.Errorf("mark %+v", mark)
			}
		})
	}
}

// TestARealUpperDirectoryThatIsHidden: the name of the upper directory leads to
// another file system, of another and of the same size.
func TestARealUpperDirectoryThatIsHidden(t *testing.T) {
	for _, test := range []struct {
		name, rung, size string
		want             facts.Truth
		why              string
	}{
		{"another size", hostview.RungMountinfo, "size=8m", facts.No, "the overlay"},
		{"another size and known to be younger", hostview.RungStatmount, "size=8m", facts.Unknown, "mounted over"},
		{"the same size and known to be younger", hostview.RungStatmount, "size=16m", facts.Unknown, "mounted over"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := newRealNode(t)
			mountAt(t, "over", n.target, "tmpfs", test.size)
			mkdir(t, n.target+"/rootfs/fs")
			m := n.survey(t, openView(t, test.rung)).Members[0]
			r := m.Rootfs
			if r.Verified.Truth != test.want || !strings.Contains(r.Verified.Why, test.why) || !strings.HasPrefix(r.NoLV, cannotTell) || r.Device != r.Superblock {
				t.Errorf("rootfs %+v", r)
			}
			if mount := m.Mounts[0]; mount.Device.IsZero() || mount.Why == "" {
				t.Errorf("mount %+v", mount)
			}
		})
	}
}

// TestTheKernelRefusesAnUpperDirectoryOnAnOverlay: so that of no root filesystem
// there is a way through another one.
func TestTheKernelRefusesAnUpperDirectoryOnAnOverlay(t *testing.T) {
	dir := memory(t)
	mkdir(t, dir+"/lower", dir+"/upper", dir+"/work", dir+"/again")
	options := func(upper string) string {
		return fmt.Sprintf("lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work", dir, upper, upper)
	}
	mountAt(t, "overlay", dir+"/over", "overlay", options(dir))
	mkdir(t, dir+"/over/upper", dir+"/over/work")
	if err := syscall.Mount("overlay", dir+"/again", "overlay", 0, options(dir+"/over")); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("mount: %v, want %v", err, syscall.EINVAL)
	}
}

// TestARealOrphan: the process ends, and its root filesystem stays mounted.
func TestARealOrphan(t *testing.T) {
	n := newRealNode(t)
	n.process.End()
	v := openView(t, "")
	s := n.survey(t, v)
	if m := s.Members[0]; m.Rootfs.Path != n.bundle+"/rootfs" || !strings.HasSuffix(m.Rootfs.NoLV, "is gone") || m.Mounts[0].Volume != "pvc-1" {
		t.Errorf("member %+v", m)
	}
	if len(s.Marks) != 1 || s.Marks[0].Code != MarkOrphanRootfs || s.Marks[0].Path != n.bundle+"/rootfs" || s.Marks[0].NoLV != "tmpfs: in memory" {
		t.Errorf("marks %+v", s.Marks)
	}
	if err := os.RemoveAll(n.bundle + "/config.json"); err != nil {
		t.Fatal(err)
	}
	s = n.survey(t, v)
	var codes []string
	for _, m := range s.Marks {
		codes = append(codes, m.Code)
	}
	if len(s.Members) != 0 || strings.Join(codes, " ") != MarkOrphanRootfs+" "+MarkNoSuchPod {
		t.Errorf("%d members, marks %v", len(s.Members), codes)
	}
}

// BenchmarkRealMap is the map of one task of twelve volumes, with the kernel's
// answers about paths and files; nothing is on a block device.
func BenchmarkRealMap(b *testing.B) {
	n := newRealNode(b)
	v := openView(b, "")
	var outcomes []facts.Outcome
	lines := []string{}
	for e := range realTable(b, v, n.process.Pid).All() {
		if e.MountPoint == "/" {
			lines = append(lines, line(e)+" "+e.SuperOptions)
		}
	}
	for i := range 12 {
		dir := filepath.Join(n.kubelet, "pods", podUID, "volumes/kubernetes.io~csi", fmt.Sprint("bench-", i))
		mountAt(b, "volume", dir+"/mount", "tmpfs", "size=1m")
		write(b, dir+"/vol_data.json", strings.Replace(volumeDataOf1, `"pvc-1"`, fmt.Sprintf(`"bench-%d"`, i), 1))
		at, err := v.Lookup(b.Context(), dir+"/mount")
		if err != nil {
			b.Fatal(err)
		}
		outcome := asked(fmt.Sprint("/data", i), dir+"/mount", facts.Private)
		outcome.Mount.Host = &at
		outcomes = append(outcomes, outcome)
		lines = append(lines, fmt.Sprintf("%d 1 %s / /data%d rw master:1 - tmpfs volume rw", 900_000+i, at.Device, i))
	}
	s := Sources{Outcomes: outcomes, Container: tableOf(b, lines...), Host: v, Devices: node(), KubeletRoot: n.kubelet}
	s.Located = verify.Locate(s.Outcomes, s.Container)
	b.ReportAllocs()
	for b.Loop() {
		s.Lookup = verify.Answers{}.By(func(path string) (facts.HostMount, error) { return v.Lookup(b.Context(), path) })
		task := Map(b.Context(), s, 1, n.bundle+"/rootfs")
		if task.Rootfs.Verified.Truth != facts.Yes || task.Mounts[11].Handle != "handle-1" || task.Mounts[11].Why != "" {
			b.Fatalf("%+v", task)
		}
	}
}

func realTable(t testing.TB, v *hostview.View, pid int) *hostview.Table {
	t.Helper()
	table, err := v.ContainerTable(pid)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// BenchmarkRealSurvey is a survey of one task through the kernel.
func BenchmarkRealSurvey(b *testing.B) {
	n := newRealNode(b)
	v := openView(b, "")
	for b.Loop() {
		if s := n.survey(b, v); len(s.Members) != 1 || s.Members[0].Rootfs.Verified.Truth != facts.Yes {
			b.Fatal(s)
		}
	}
}
