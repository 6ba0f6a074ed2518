package volumes

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

const (
	btrfsUUID  = "44bbfb4d-f313-477e-b1b3-1debd206e6d2"
	otherBtrfs = "55bbfb4d-f313-477e-b1b3-1debd206e6d2"
)

func fid(t testing.TB, kind int32, text string) hostview.Handle {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return hostview.Handle{Type: kind, Bytes: b}
}

// overlayHandle is what an overlay says of its root; flags 4 is the upper
// directory.
func overlayHandle(t testing.TB, flags byte, inner hostview.Handle) hostview.Handle {
	t.Helper()
	text := fmt.Sprintf("00000000fb%02x%02x%02x%s%x", 21+len(inner.Bytes), flags, inner.Type, strings.ReplaceAll(btrfsUUID, "-", ""), inner.Bytes)
	return fid(t, 0xf8, text)
}

// TestTheUpperDirectoryIsProved: by its handle where there are any, else by its
// size where no symbolic link leads there.
func TestTheUpperDirectoryIsProved(t *testing.T) {
	own, other := fid(t, 1, "0c00000040668dbd"), fid(t, 1, "0c00000041668dbd")
	const noHandle = "operation not supported"
	type handles map[string]hostview.Handle
	both := func(upper, inner hostview.Handle) handles {
		return handles{"/ctr/1/fs": upper, "/b/rootfs": overlayHandle(t, 4, inner)}
	}
	tests := []struct {
		name    string
		fsType  string // of the upper directory; ext4
		upper   string // its name; /ctr/1/fs
		links   map[string]string
		handles handles
		larger  bool // than the overlay, by statfs
		hung    string
		btrfs   string // the uuid of the btrfs at the upper directory
		another bool   // the upper directory is on an ext4 with another uuid
		want    facts.Truth
		why     string
	}{
		{name: "the same handle", handles: both(own, own), want: facts.Yes, why: "both have the file handle 1:0c00000040668dbd"},
		{name: "the same handle, by a symbolic link", upper: "/link/fs", links: map[string]string{"/link/fs": "/ctr/1/fs"}, handles: handles{"/link/fs": own, "/b/rootfs": overlayHandle(t, 4, own)}, want: facts.Yes, why: "file handle"},
		{name: "the same handle, and it was grown just now", handles: both(own, own), larger: true, want: facts.Yes, why: "file handle"},
		{name: "the same handle on another ext4, copied by mke2fs", handles: both(own, own), another: true, want: facts.No, why: "it is on another ext4"},
		{name: "an equally large one", handles: both(other, own), want: facts.No, why: "its file handle is 1:0c00000041668dbd, the overlay's upper directory has 1:0c00000040668dbd"},
		{name: "another type of handle", handles: both(fid(t, 0x81, "0c00000040668dbd"), own), want: facts.No, why: "81:"},
		{name: "the overlay's is not of an upper directory", handles: handles{"/ctr/1/fs": own, "/b/rootfs": overlayHandle(t, 0, own)}, why: "not of an upper directory"},
		{name: "the overlay's cannot be read", handles: handles{"/ctr/1/fs": own, "/b/rootfs": own}, why: "not the handle of an overlay's file"},
		{name: "the overlay's is not told in time", handles: both(own, own), hung: "/b/rootfs", why: "did not answer"},

		{name: "no handles and the same size", want: facts.Yes, why: "statfs tells 5 blocks"},
		{name: "no handle of the upper directory", handles: handles{"/b/rootfs": overlayHandle(t, 4, own)}, want: facts.Yes, why: "statfs tells 5 blocks"},
		{name: "no handles and another size", larger: true, want: facts.No, why: "9 blocks"},
		{name: "no handles, by a symbolic link", upper: "/link/fs", links: map[string]string{"/link/fs": "/ctr/1/fs"}, why: "/link/fs leads to /ctr/1/fs by a symbolic link, which may have led elsewhere, and handle: /b/rootfs: " + noHandle},
		{name: "no handles, by a symbolic link that is left again", upper: "/ctr/link/../1/fs", links: map[string]string{"/ctr/link/../1/fs": "/ctr/1/fs"}, why: "by a symbolic link"},
		{name: "no handles and a name that is not clean", upper: "/ctr//1/./fs/", links: map[string]string{"/ctr//1/./fs/": "/ctr/1/fs"}, want: facts.Yes, why: "statfs tells"},

		{name: "the same handle on the same btrfs", fsType: "btrfs", handles: both(own, own), btrfs: btrfsUUID, want: facts.Yes, why: "on the btrfs " + btrfsUUID},
		{name: "the same handle on another btrfs", fsType: "btrfs", handles: both(own, own), btrfs: otherBtrfs, want: facts.No, why: "it is on the btrfs " + otherBtrfs},
		{name: "the same handle on a btrfs that is not told", fsType: "btrfs", handles: both(own, own), want: facts.Yes, why: "statfs tells"},
		{name: "the same, by a symbolic link", fsType: "btrfs", upper: "/link/fs", links: map[string]string{"/link/fs": "/ctr/1/fs"}, handles: handles{"/link/fs": own, "/b/rootfs": overlayHandle(t, 4, own)}, why: "file handles of two btrfs can be the same: /link/fs: permission denied"},
		{name: "the same handle on zfs", fsType: "zfs", handles: both(own, own), want: facts.Yes, why: "statfs tells"},
		{name: "another handle on zfs", fsType: "zfs", handles: both(other, own), want: facts.No, why: "file handle"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.upper == "" {
				test.upper = "/ctr/1/fs"
			}
			if test.fsType == "" {
				test.fsType = "ext4"
			}
			size := sizes(5)
			if test.larger {
				size = sizes(9)
			}
			if !test.another {
				size[0].FSID = [2]uint32{0xa6e608f5, 0xaca11521} // of btrfsUUID, by hand
			}
			h := onHost(map[string]facts.HostMount{
				"/ctr":      {Device: number(253, 2), Root: "/", FSType: test.fsType},
				"/b/rootfs": {Device: number(0, 50), Root: "/", FSType: "overlay"},
			})
			h.links, h.handle, h.slow = test.links, test.handles, test.hung
			h.stats = map[string][]hostview.Statfs{test.upper: size, "/b/rootfs": sizes(5)}
			if test.btrfs != "" {
				h.btrfs = map[string]hostview.Btrfs{test.upper: {FSID: test.btrfs, Devices: 1}}
			}
			r, _ := mapRootfs(t, h, "0:50 / / rw - overlay overlay rw,upperdir="+test.upper+",workdir=/ctr/1/work", "/b/rootfs")
			if r.Verified.Truth != test.want || !strings.Contains(r.Verified.Why, test.why) {
				t.Errorf("verified %s (%s), want %s (... %s ...)", r.Verified.Truth, r.Verified.Why, test.want, test.why)
			}
			if (r.LV == "vg0/pvc-1") != (test.want == facts.Yes) {
				t.Errorf("LV %q, no LV %q", r.LV, r.NoLV)
			}
			if test.want == facts.No && !strings.HasPrefix(r.NoLV, cannotTell+test.upper+" is not the overlay's upper directory any more (") {
				t.Errorf("no LV %q", r.NoLV)
			}
		})
	}
}

// TestAnOverlayVolumeIsAskedAtItsRoot: the handle of a directory in it is not
// that of the upper directory.
func TestAnOverlayVolumeIsAskedAtItsRoot(t *testing.T) {
	const line = `101 100 0:51 /sub /data rw - overlay o rw,lowerdir=/l,upperdir=/pvc/fs,workdir=/pvc/w`
	own := fid(t, 1, "0c00000040668dbd")
	for _, test := range []struct {
		name, root, source, asked string
	}{
		{"a directory in it", "/", "/merged/sub", "/merged"},
		{"only a part of it is mounted", "/sub", "/merged", ""},
		{"all of it", "/", "/merged", "/merged"},
	} {
		h := onHost(map[string]facts.HostMount{
			"/merged": {Device: number(0, 51), Root: test.root, FSType: "overlay"},
			"/pvc":    {Device: number(253, 2), Root: "/", FSType: "xfs"},
		})
		h.stats = map[string][]hostview.Statfs{test.source: sizes(5), "/pvc/fs": sizes(5)}
		h.handle = map[string]hostview.Handle{"/merged": overlayHandle(t, 4, own), "/pvc/fs": own}
		m, _ := one(t, h, node(), test.source, line)
		if m.LV != "vg0/pvc-1" {
			t.Errorf("%s: %+v", test.name, m.Backing)
		}
		var want []string
		if test.asked != "" {
			want = []string{"handle " + test.asked, "handle /pvc/fs"}
		}
		got := slices.DeleteFunc(h.asked, func(a string) bool { return !strings.HasPrefix(a, "handle") })
		if !slices.Equal(got, want) {
			t.Errorf("%s: asked %v, want %v", test.name, got, want)
		}
	}
}

// withoutHandles is the host view of a kernel before Linux 6.6.
type withoutHandles struct{ *hostview.View }

func (withoutHandles) Handle(_ context.Context, path string) (hostview.Handle, error) {
	return hostview.Handle{}, &hostview.CannotTell{Path: path, Why: "no handles", Err: hostview.ErrNoHandle}
}

// TestARealLinkThatLeadsElsewhere: two file systems of one size, both mounted
// before the overlay, and a link in the name of the upper directory that leads
// to the one and then to the other.
func TestARealLinkThatLeadsElsewhere(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: mounts")
	}
	for name, device := range map[string]func(t *testing.T) (source, data string){
		"tmpfs": func(*testing.T) (string, string) { return "volume", "size=16m" },
		"ext4":  func(t *testing.T) (string, string) { return linuxtest.Ext4(t), "" },
		"btrfs": func(t *testing.T) (string, string) { return linuxtest.Btrfs(t, 1)[0], "" },
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			mountAt(t, "stage", dir, "tmpfs", "size=16m")
			for _, volume := range []string{"/a", "/b"} {
				source, data := device(t)
				mountAt(t, source, dir+volume, name, data)
				mkdir(t, dir+volume+"/fs", dir+volume+"/work")
			}
			lead := func(to string) {
				t.Helper()
				_ = os.Remove(dir + "/link")
				if err := os.Symlink(to, dir+"/link"); err != nil {
					t.Fatal(err)
				}
			}
			lead("a")
			mkdir(t, dir+"/lower/sub")
			for at, upper := range map[string]string{"/linked": "/link", "/straight": "/b"} {
				mountAt(t, "overlay", dir+at, "overlay", fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s%[2]s/fs,workdir=%[1]s%[2]s/work", dir, upper))
			}
			for _, rung := range []string{hostview.RungStatmount, hostview.RungMountinfo} {
				v := openView(t, rung)
				if _, err := v.Handle(t.Context(), dir+"/linked"); err != nil {
					t.Skip("needs Linux 6.6 or later: ", err)
				}
				verified := func(host Host, at, path string) *overlaid {
					t.Helper()
					e, ok := realTable(t, v, os.Getpid()).At(dir + at)
					if !ok {
						t.Fatalf("no overlay at %s", at)
					}
					o := newMapper(Sources{Host: host, Devices: node()}).overlay(t.Context(), e, dir+path)
					if (o.verified.Truth == facts.Yes) != (o.Device != e.Device) {
						t.Errorf("%s, and the device is %s of the overlay %s", o.verified.Truth, o.Device, e.Device)
					}
					return o
				}
				old := withoutHandles{v}
				for _, test := range []struct {
					link     string
					host     Host
					at, path string
					want     facts.Truth
					why      string
				}{
					{"a", v, "/linked", "/linked", facts.Yes, "both have the file handle"},
					{"a", v, "/linked", "/linked/sub", facts.Yes, "both have the file handle"},
					{"a", old, "/linked", "/linked", facts.Unknown, "by a symbolic link"},
					{"a", old, "/straight", "/straight", facts.Yes, "statfs tells"},
					{"b", v, "/linked", "/linked", facts.No, "overlay's upper directory"},
					{"b", v, "/linked", "/linked/sub", facts.No, "overlay's upper directory"},
					{"b", v, "/straight", "/straight", facts.Yes, "both have the file handle"},
					{"b", old, "/linked", "/linked", facts.Unknown, "by a symbolic link"},
				} {
					lead(test.link)
					o := verified(test.host, test.at, test.path)
					if o.verified.Truth != test.want || !strings.Contains(o.verified.Why, test.why) {
						t.Errorf("%s, link to %s, %s (%T): %s (%s), want %s (... %s ...)", rung, test.link, test.path, test.host, o.verified.Truth, o.verified.Why, test.want, test.why)
					}
					if test.want == facts.No && !strings.HasPrefix(o.NoLV, cannotTell+dir+"/link/fs is not the overlay's upper directory any more (") {
						t.Errorf("no LV: %s", o.NoLV)
					}
				}
			}
		})
	}
}
