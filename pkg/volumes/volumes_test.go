package volumes

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/verify"
)

const (
	vgUUID = "abcdefGHIJKLMNOPQRSTUVWXYZ012345"
	lvUUID = "ZYXWVUtsrqponmlkjihgfedcba543210"
)

// sysfs is that of a node with a logical volume, a crypt device without LVM, a
// disk's partition, and a link that leads nowhere.
func sysfs(t *testing.T) device.FS {
	t.Helper()
	sys := t.TempDir()
	for number, files := range map[string][]string{
		"253:2": {"dm-2", "vg0-pvc--1", "LVM-" + vgUUID + lvUUID},
		"253:3": {"dm-3", "luks-home", "CRYPT-LUKS2-0-luks-home"},
		"8:1":   {"sda1"},
	} {
		dir := filepath.Join(sys, "devices", files[0])
		for _, d := range []string{filepath.Join(dir, "dm"), filepath.Join(sys, "dev", "block")} {
			if err := os.MkdirAll(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		for i, name := range []string{"name", "uuid"}[:len(files)-1] {
			if err := os.WriteFile(filepath.Join(dir, "dm", name), []byte(files[i+1]+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("../../devices/"+files[0], filepath.Join(sys, "dev", "block", number)); err != nil {
			t.Fatal(err)
		}
	}
	return device.FS{Sys: sys}
}

func number(major, minor uint32) facts.DeviceNumber {
	return facts.DeviceNumber{Major: major, Minor: minor}
}

// hosts knows the mount of a path by the longest prefix.
type hosts map[string]facts.HostMount

func (h hosts) lookup(path string) (facts.HostMount, error) {
	best := ""
	for point := range h {
		if facts.Within(path, point) && len(point) > len(best) {
			best = point
		}
	}
	m, ok := h[best]
	if !ok {
		return facts.HostMount{}, errors.New("path is not cached and its file system did not answer in 50ms")
	}
	m.Canonical, m.MountPoint = path, best
	return m, nil
}

func tableOf(t *testing.T, lines ...string) *hostview.Table {
	t.Helper()
	table, err := hostview.ReadTable(strings.NewReader(strings.Join(lines, "\n") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// asked is a mount that was left as asked.
func asked(destination, source string, p facts.Propagation) facts.Outcome {
	return facts.Outcome{
		Mount: facts.Mount{Destination: destination, Source: source, Type: "bind", Options: []string{"rbind", p.Option()}},
		Asked: p, Decided: p, Result: facts.Unchanged,
	}
}

// decidedAbout gives the outcomes what their sources led to at creation.
func decidedAbout(s Sources) {
	for i := range s.Outcomes {
		if m, err := s.Host(s.Outcomes[i].Mount.Source); err == nil {
			s.Outcomes[i].Mount.Host = &m
		}
	}
}

// TestMap is the map of one task of a node with everything on it.
func TestMap(t *testing.T) {
	const pods = "/var/lib/kubelet/pods/11111111-2222-3333-4444-555555555555/"
	target := pods + "volumes/kubernetes.io~csi/pvc-1/mount"
	raised := asked("/data", target, facts.Private)
	raised.Decided, raised.Result = facts.Slave, facts.Applied
	s := Sources{
		Outcomes: []facts.Outcome{
			raised,
			asked("/nfs", "/mnt/nfs", facts.Private),
			asked("/var/run/link", "/srv/link", facts.Private),
			asked("/gone", "/srv/gone", facts.Private),
			asked("/hung", "/hung/x", facts.Slave),
			{Mount: facts.Mount{Destination: "/proc", Type: "proc", Source: "proc"}},
		},
		Container: tableOf(t,
			`100 1 0:50 / / rw - overlay overlay rw,lowerdir=/l,upperdir=/ctr/snap\0401/fs,workdir=/ctr/snap\0401/work`,
			`101 100 253:2 / /data rw master:7 - xfs /dev/mapper/vg0-pvc--1 rw`,
			`102 100 0:61 / /nfs rw - nfs4 server:/export rw`,
			`103 100 8:1 /srv/link /run/link rw - ext4 /dev/sda1 rw`,
			`104 100 0:62 / /hung rw master:9 - fuse.s3fs s3 rw`,
			`105 100 0:63 / /proc rw - proc proc rw`,
		),
		Host: hosts{
			"/ctr": {Device: number(253, 3), Root: "/", FSType: "ext4"},
			"/mnt": {Device: number(0, 61), Root: "/", FSType: "nfs4"},
			"/srv": {Device: number(8, 1), Root: "/srv", FSType: "ext4", State: facts.MountState{Peer: 1}},
			target: {Device: number(253, 2), Root: "/", FSType: "xfs", State: facts.MountState{Peer: 7}},
		}.lookup,
		Devices:     sysfs(t),
		KubeletRoot: "/var/lib/kubelet",
	}
	decidedAbout(s)
	s.Located = verify.Locate(s.Outcomes, s.Container)
	got := Map(s, 42, "/run/containerd/x/rootfs")
	want := Task{
		PID: 42,
		Rootfs: Rootfs{
			Path: "/run/containerd/x/rootfs", FSType: "overlay", Upper: "/ctr/snap 1/fs", Work: "/ctr/snap 1/work",
			Backing: Backing{Device: number(253, 3), Name: "dm-3", DMName: "luks-home", NoLV: "a device-mapper device that is not a logical volume"},
		},
		Mounts: []Mount{
			{
				Destination: "/data", Source: target, Kind: "csi", Volume: "pvc-1", FSType: "xfs", Asked: facts.Private, Decided: facts.Slave,
				Seen: &facts.MountState{Master: 7}, Host: &facts.MountState{Peer: 7},
				Backing: Backing{Device: number(253, 2), Name: "dm-2", DMName: "vg0-pvc--1", LV: "vg0/pvc-1", LVUUID: "ZYXWVU-tsrq-ponm-lkji-hgfe-dcba-543210"},
			},
			{
				Destination: "/nfs", Source: "/mnt/nfs", Kind: KindHostPath, FSType: "nfs4", Asked: facts.Private, Decided: facts.Private,
				Seen: &facts.MountState{}, Host: &facts.MountState{},
				Backing: Backing{Device: number(0, 61), NoLV: "nfs4: not on a device of this node"},
			},
			{
				Destination: "/var/run/link", Source: "/srv/link", Kind: KindHostPath, FSType: "ext4", Asked: facts.Private, Decided: facts.Private,
				Seen: &facts.MountState{}, Host: &facts.MountState{Peer: 1},
				Backing: Backing{Device: number(8, 1), Name: "sda1", NoLV: "not a device-mapper device"},
			},
			{
				Destination: "/gone", Source: "/srv/gone", Kind: KindHostPath, Asked: facts.Private, Decided: facts.Private,
				Host: &facts.MountState{Peer: 1}, Why: "no mount at /gone in the container's table, and none of what was decided about",
			},
			{
				Destination: "/hung", Source: "/hung/x", Kind: KindHostPath, FSType: "fuse.s3fs", Asked: facts.Slave, Decided: facts.Slave,
				Seen: &facts.MountState{Master: 9}, Why: "path is not cached and its file system did not answer in 50ms",
				Backing: Backing{Device: number(0, 62), NoLV: device.NoDevice("fuse.s3fs")},
			},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("map (-want +got):\n%s", diff)
	}
}

// TestKinds is what the source's path says.
func TestKinds(t *testing.T) {
	const pod = "/var/lib/kubelet/pods/u1/"
	hash := strings.Repeat("0123456789abcdef", 4)
	runtime := []string{"/run/containerd", "/var/lib/containerd", ""}
	tests := []struct {
		source, canonical string
		kind, volume      string
		subPath           bool
	}{
		{pod + "volumes/kubernetes.io~csi/pvc-1/mount", "", "csi", "pvc-1", false},
		{pod + "volumes/kubernetes.io~csi/pvc-1/mount/deep", "", "csi", "pvc-1", false},
		{pod + "volumes/kubernetes.io~empty-dir/cache", "", "empty-dir", "cache", false},
		{pod + "volumes/kubernetes.io~projected/kube-api-access-x", "", "projected", "kube-api-access-x", false},
		{pod + "volumes/kubernetes.io~secret/s", "", "secret", "s", false},
		{pod + "volumes/kubernetes.io~configmap/c", "", "configmap", "c", false},
		{pod + "volumes/kubernetes.io~local-volume/l", "", "local-volume", "l", false},
		{pod + "volumes/example.com~lvm/f", "", "flexvolume", "f", false},
		{pod + "volume-subpaths/pvc-1/main/0", "", "sub-path", "pvc-1", true},
		{pod + "etc-hosts", "", KindKubelet, "", false},
		{pod + "containers/main/0a1b2c3d", "", KindKubelet, "", false},
		{"/var/lib/kubelet", "", KindHostPath, "", false},
		{"/var/lib/kubelet/pods", "", KindHostPath, "", false},
		{"/var/lib/kubelet/plugins/kubernetes.io/csi/drv/" + hash + "/globalmount", "", KindHostPath, "", false},
		{"/data/kubelet/pods/u1/volumes/kubernetes.io~csi/pvc-1/mount", "", "csi", "pvc-1", false},
		{"/link/x", pod + "volumes/kubernetes.io~csi/pvc-1/mount", "csi", "pvc-1", false},
		{"/run/containerd/io.containerd.grpc.v1.cri/sandboxes/x/shm", "", KindRuntime, "", false},
		{"/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes/x/hostname", "", KindRuntime, "", false},
		{"/run/containerd", "", KindHostPath, "", false}, // the directory as a whole is no file of its
		{"/run/containerd2/x", "", KindHostPath, "", false},
		{"/", "", KindHostPath, "", false},
		{"/srv/data", "", KindHostPath, "", false},
		{"relative", "", KindHostPath, "", false},
	}
	for _, test := range tests {
		m := facts.Mount{Source: test.source}
		if test.canonical != "" {
			m.Host = &facts.HostMount{Canonical: test.canonical}
		}
		var got Mount
		got.name(m, "/var/lib/kubelet", runtime)
		want := Mount{Kind: test.kind, Volume: test.volume, SubPath: test.subPath}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.source, diff)
		}
	}
}

// TestOverlayDir has values as Linux 6.18 shows them: octal escapes above, what
// was given at mount time below.
func TestOverlayDir(t *testing.T) {
	const rest = ",workdir=/w,uuid=on"
	tests := []struct{ options, want string }{
		{`rw,lowerdir=/l,upperdir=/u/plain` + rest, "/u/plain"},
		{`rw,lowerdir=/l,upperdir=/u/sp\040ace` + rest, "/u/sp ace"},
		{`rw,lowerdir=/l,upperdir=/u/com\134\054ma` + rest, "/u/com,ma"},
		{`rw,lowerdir=/l,upperdir=/u/com\054ma` + rest, "/u/com,ma"}, // by fsconfig(2)
		{`rw,lowerdir=/l,upperdir=/u/co:lon` + rest, "/u/co:lon"},
		{`rw,lowerdir=/l,upperdir=/u/co\134:lon` + rest, "/u/co:lon"},
		{`rw,lowerdir=/l,upperdir=/u/back\134\134slash` + rest, `/u/back\slash`},
		{`rw,lowerdir=/l,upperdir=/u/new\012line` + rest, "/u/new\nline"},
		{`rw,lowerdir=/l,upperdir=/u/eq=ual` + rest, "/u/eq=ual"},
		{"rw,lowerdir=/l,upperdir=/u/\xff" + rest, "/u/\xff"},
		{`rw,lowerdir=/l\054upperdir=/forged,upperdir=/u` + rest, "/u"},
		{`rw,lowerdir=/l` + rest, ""},
		{`rw,xupperdir=/u`, ""},
		{`rw,upperdir=`, ""},
		{`rw,upperdir=/u\`, `/u\`},
		{`rw,upperdir=/u\9x\08`, `/u9x08`}, // no escape of the kernel's
		{``, ""},
	}
	for _, test := range tests {
		if got := overlayDir(test.options, "upperdir"); got != test.want {
			t.Errorf("%q: upperdir = %q, want %q", test.options, got, test.want)
		}
	}
}

func FuzzOverlayDir(f *testing.F) {
	f.Add("/u/plain")
	f.Add("/a,b:c\\d \t\n=\xff")
	quote := strings.NewReplacer(`\`, `\\`, `,`, `\,`, `:`, `\:`)
	kernel := strings.NewReplacer(`\`, `\134`, `,`, `\054`, ` `, `\040`, "\t", `\011`, "\n", `\012`)
	f.Fuzz(func(t *testing.T, dir string) {
		_ = overlayDir(dir, "upperdir")
		options := "rw,lowerdir=/l,upperdir=" + kernel.Replace(quote.Replace(dir)) + ",workdir=/w"
		if got := overlayDir(options, "upperdir"); got != dir {
			t.Errorf("%q in %q = %q", dir, options, got)
		}
		if got := overlayDir(options, "workdir"); got != "/w" {
			t.Errorf("workdir in %q = %q", options, got)
		}
	})
}

// TestRootfs is where a task writes, for the shapes that a root has.
func TestRootfs(t *testing.T) {
	h := hosts{
		"/ctr": {Device: number(253, 2), Root: "/", FSType: "xfs"},
		"/tmp": {Device: number(0, 33), Root: "/", FSType: "tmpfs"},
	}
	tests := []struct {
		name, root string
		want       Rootfs
	}{
		{"overlay on a logical volume", "0:50 / / rw - overlay overlay rw,upperdir=/ctr/1/fs,workdir=/ctr/1/work", Rootfs{
			FSType: "overlay", Upper: "/ctr/1/fs", Work: "/ctr/1/work",
			Backing: Backing{Device: number(253, 2), Name: "dm-2", DMName: "vg0-pvc--1", LV: "vg0/pvc-1", LVUUID: "ZYXWVU-tsrq-ponm-lkji-hgfe-dcba-543210"},
		}},
		{"overlay in memory", "0:50 / / rw - overlay overlay rw,upperdir=/tmp/fs,workdir=/tmp/w", Rootfs{
			FSType: "overlay", Upper: "/tmp/fs", Work: "/tmp/w", Backing: Backing{Device: number(0, 33), NoLV: "tmpfs: in memory"},
		}},
		{"overlay without an upper", "0:50 / / ro - overlay overlay ro,lowerdir=/a:/b", Rootfs{
			FSType: "overlay", Backing: Backing{Device: number(0, 50), NoLV: "an overlay without an upper directory: nothing is written"},
		}},
		{"overlay whose upper is not found", "0:50 / / rw - overlay overlay rw,upperdir=/else/fs,workdir=/else/w", Rootfs{
			FSType: "overlay", Upper: "/else/fs", Work: "/else/w",
			Backing: Backing{Device: number(0, 50), NoLV: "cannot tell: path is not cached and its file system did not answer in 50ms"},
		}},
		{"a thin snapshot", "253:3 / / rw - ext4 /dev/mapper/x rw", Rootfs{
			FSType: "ext4", Backing: Backing{Device: number(253, 3), Name: "dm-3", DMName: "luks-home", NoLV: "a device-mapper device that is not a logical volume"},
		}},
		{"a disk", "8:1 /snap / rw - ext4 /dev/sda1 rw", Rootfs{
			FSType: "ext4", Backing: Backing{Device: number(8, 1), Name: "sda1", NoLV: "not a device-mapper device"},
		}},
		{"a device that sysfs does not have", "8:99 / / rw - ext4 /dev/sdz rw", Rootfs{
			FSType: "ext4", Backing: Backing{Device: number(8, 99)},
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := Sources{Container: tableOf(t, "100 1 "+test.root), Host: h.lookup, Devices: sysfs(t)}
			got := s.rootfs("/b/rootfs")
			test.want.Path = "/b/rootfs"
			if test.want.Name == "" && test.want.NoLV == "" {
				if !strings.HasPrefix(got.NoLV, "cannot tell: look up device "+test.want.Device.String()) {
					t.Errorf("no_lv = %q, want that it cannot be told", got.NoLV)
				}
				got.NoLV = ""
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("rootfs (-want +got):\n%s", diff)
			}
		})
	}
	s := Sources{Container: tableOf(t, "100 1 8:1 / /data rw - ext4 /dev/sda1 rw"), Host: h.lookup, Devices: sysfs(t)}
	if got := s.rootfs(""); !strings.HasPrefix(got.NoLV, "cannot tell") {
		t.Errorf("without a root: no_lv = %q", got.NoLV)
	}
}

// TestUnmapped: what was not read is not said to be absent.
func TestUnmapped(t *testing.T) {
	got := Unmapped(7, "process 7: it is gone")
	want := Task{PID: 7, Rootfs: Rootfs{Backing: Backing{NoLV: "cannot tell: process 7: it is gone"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("map (-want +got):\n%s", diff)
	}
}
