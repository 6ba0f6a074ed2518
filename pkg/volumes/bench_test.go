package volumes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/verify"
)

// benchSources is a task with twelve mounts, each on a device of its own that
// has a thin pool and a disk below, and an overlay root of ten layers. Nothing
// of the host but sysfs is real.
func benchSources(b *testing.B, devices Devices) Sources {
	h := onHost(map[string]facts.HostMount{"/b/rootfs": {Device: number(0, 50), Root: "/", FSType: "overlay"}})
	h.stats = map[string][]hostview.Statfs{"/u/fs": sizes(5), "/b/rootfs": sizes(5)}
	h.files = map[string]string{}
	var lower []string
	for i := range 10 {
		lower = append(lower, fmt.Sprint("/l/", i, "/fs"))
	}
	lines := []string{"100 1 0:50 / / rw - overlay o rw,lowerdir=" + strings.Join(lower, ":") + ",upperdir=/u/fs,workdir=/u/w"}
	var outcomes []facts.Outcome
	for i := range 12 {
		dir := fmt.Sprintf("%s/kubernetes.io~csi/pvc-%d", volumesOfPod, i)
		h.mounts[dir+"/mount"] = facts.HostMount{Device: number(253, uint32(i)), Root: "/", FSType: "xfs", State: facts.MountState{Peer: 7}}
		h.files[dir+"/vol_data.json"] = strings.Replace(volumeDataOf1, `"pvc-1"`, fmt.Sprintf(`"pvc-%d"`, i), 1)
		outcomes = append(outcomes, asked(fmt.Sprint("/data", i), dir+"/mount", facts.Private))
		lines = append(lines, fmt.Sprintf("%d 100 253:%d / /data%d rw master:7 - xfs x rw", 101+i, i, i))
	}
	s := located(Sources{Outcomes: outcomes, Container: tableOf(b, lines...), Host: h, Devices: devices, KubeletRoot: kubelet})
	s.Lookup = verify.Answers{}.By(func(path string) (facts.HostMount, error) { return h.Lookup(context.Background(), path) })
	return s
}

// benchSysfs has twelve thin volumes in one pool, as sysfs shows them.
func benchSysfs(b *testing.B) *device.Cache {
	sys := b.TempDir()
	write := func(path, text string) {
		b.Helper()
		path = filepath.Join(sys, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	link := func(target, path string) {
		b.Helper()
		path = filepath.Join(sys, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			b.Fatal(err)
		}
	}
	dm := func(n int, name, suffix string, slaves ...string) {
		dir := fmt.Sprintf("devices/virtual/block/dm-%d", n)
		write(dir+"/dev", fmt.Sprintf("253:%d", n))
		write(dir+"/dm/name", name)
		write(dir+"/dm/uuid", fmt.Sprintf("LVM-abcdefGHIJKLMNOPQRSTUVWXYZ012345%032d%s", n, suffix))
		link("../../"+dir, fmt.Sprintf("dev/block/253:%d", n))
		for _, slave := range slaves {
			link("../../"+slave, dir+"/slaves/"+slave)
		}
	}
	write("kernel/uevent_seqnum", "1")
	write("devices/virtual/block/sda/dev", "8:0")
	link("../../devices/virtual/block/sda", "dev/block/8:0")
	write("devices/virtual/block/sda1/dev", "8:1")
	link("../../devices/virtual/block/sda1", "dev/block/8:1")
	dm(100, "vg0-pool-tpool", "-tpool", "dm-101")
	dm(101, "vg0-pool_tdata", "-tdata", "sda")
	for i := range 12 {
		dm(i, fmt.Sprintf("vg0-pvc--%d", i), "", "dm-100")
	}
	return device.NewCache(device.FS{Sys: sys}, 1024)
}

func BenchmarkMap12Mounts(b *testing.B) {
	s := benchSources(b, benchSysfs(b))
	check := func(b *testing.B) {
		b.Helper()
		task := Map(b.Context(), s, 1, "/b/rootfs")
		if task.Mounts[11].LV != "vg0/pvc-11" || task.Rootfs.Verified.Truth != facts.Yes || len(task.Storage) != 13 {
			b.Fatalf("%+v", task)
		}
	}
	check(b)
	b.ReportAllocs()
	for b.Loop() {
		s.Host.(*fakeHost).asked = nil
		check(b)
	}
}

// bigNode is a node with so many tasks of twelve mounts each, two of them
// volumes, and a host table of all mounts and as many more as are wanted.
func bigNode(b *testing.B, tasks, mounts int) (*fakeMachine, *fakeDevices) {
	h := onHost(nil)
	m := &fakeMachine{fakeHost: h, t: b, tasks: map[string]*fakeTask{}}
	d := node()
	host := []string{"1 0 8:1 / / rw shared:1 - ext4 /dev/sda1 rw"}
	for i := range tasks {
		uid := fmt.Sprintf("%08d-2222-3333-4444-555555555555", i)
		dir := bundleDir("k8s.io", fmt.Sprintf("c%04d", i))
		host = append(host, fmt.Sprintf("%d 1 0:%d / %s/rootfs rw - overlay overlay rw", len(host)+1, 1000+i, dir))
		h.mounts[dir+"/rootfs"] = facts.HostMount{Device: number(0, uint32(1000+i)), Root: "/", FSType: "overlay"}
		h.stats = map[string][]hostview.Statfs{}
		task := &fakeTask{pid: 1 + i, identity: facts.Is(true, "same"), spec: hostview.Spec{Annotations: annotated("container", "main", uid)}}
		task.table = []string{fmt.Sprintf("100 1 0:%d / / rw - overlay o rw,lowerdir=/l/1:/l/2:/l/3,upperdir=/u/%d/fs,workdir=/u/%d/work", 1000+i, i, i)}
		for j := range 12 {
			source, n, root := fmt.Sprintf("/srv/%d/%d", i, j), number(8, 1), fmt.Sprintf("/srv/%d/%d", i, j)
			if j < 2 {
				source = fmt.Sprintf("%s/pods/%s/volumes/kubernetes.io~csi/pvc-%d/mount", kubelet, uid, j)
				n, root = number(254, uint32(2*i+j)), "/"
				d.chains[n] = chainOf(lvLayer(n, "vg0", fmt.Sprintf("pvc-%d-%d", i, j)), diskLayer(number(8, 0), "sda"))
				h.mounts[source] = facts.HostMount{Device: n, Root: "/", FSType: "xfs"}
				host = append(host, fmt.Sprintf("%d 1 %s / %s rw - xfs x rw", len(host)+1, n, source))
			}
			task.spec.Mounts = append(task.spec.Mounts, bind(fmt.Sprint("/m", j), source))
			task.table = append(task.table, fmt.Sprintf("%d 100 %s %s /m%d rw - xfs x rw", 101+j, n, root, j))
		}
		m.tasks[dir] = task
	}
	for len(host) < mounts {
		n := len(host) + 1
		host = append(host, fmt.Sprintf("%d 1 0:%d / /other/%d rw - tmpfs t rw", n, 100_000+n, n))
	}
	m.host = host
	return m, d
}

// parsed is a machine whose tables were read before.
type parsed struct {
	*fakeMachine
	host   *hostview.Table
	tables map[string]*hostview.Table
}

func (p parsed) Reread(context.Context) (*hostview.Table, error) { return p.host, nil }

// Lookup does without the search that a fake host makes.
func (p parsed) Lookup(_ context.Context, path string) (facts.HostMount, error) {
	for at := path; ; at = filepath.Dir(at) {
		if m, ok := p.mounts[at]; ok {
			m.Canonical, m.MountPoint = path, at
			return m, nil
		}
	}
}

func (p parsed) prove(_ context.Context, _ int, rootfs string) (facts.Answer, *hostview.Table, bool) {
	return facts.Is(true, "same"), p.tables[rootfs], true
}

// BenchmarkSurveyJoin is the joining of a whole node: 500 tasks with 12 mounts
// each, whose tables are in memory.
func BenchmarkSurveyJoin(b *testing.B) {
	for _, mounts := range []int{2_000, 50_000} {
		m, d := bigNode(b, 500, mounts)
		p := parsed{m, tableOf(b, m.host...), map[string]*hostview.Table{}}
		for dir, task := range m.tasks {
			p.tables[dir+"/rootfs"] = tableOf(b, task.table...)
		}
		b.Run(fmt.Sprintf("mounts=%d", mounts), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.asked, d.asked = nil, nil
				s := surveyor{Node{Devices: d, KubeletRoot: kubelet, States: []string{state}}, p}.survey(b.Context())
				if len(s.Members) != 500 || len(s.Marks) != 0 || s.Members[499].Mounts[1].LV != "vg0/pvc-499-1" {
					b.Fatalf("%d members, marks %+v", len(s.Members), s.Marks)
				}
			}
		})
	}
}
