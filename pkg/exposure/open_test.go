package exposure

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/target"
)

// TestWhatIsOpen: a file counts that is on a target though no mount of the
// namespace shows that; of what cannot be placed it is said so.
func TestWhatIsOpen(t *testing.T) {
	type open struct {
		link, text string
		Stat
	}
	volumeTarget := pvc1
	dir := func(device facts.DeviceNumber, mount int) Stat {
		return Stat{Device: device, MountID: mount, Directory: true}
	}
	file := func(device facts.DeviceNumber, mount int) Stat { return Stat{Device: device, MountID: mount} }
	const detached = 999
	for name, test := range map[string]struct {
		table   string // of the agent, beside its root file system
		open    open
		target  target.Target
		want    []string
		unknown string
	}{
		"a directory of what was lazily unmounted": {
			open: open{"fd/3", "/", dir(dev(253, 7), detached)}, target: volumeTarget,
			want: []string{"agent / open-directory - ? foreign"},
		},
		"the working directory": {
			open: open{"cwd", "/up", dir(dev(253, 7), detached)}, target: volumeTarget,
			want: []string{"agent /up open-directory - ? foreign"},
		},
		"a file": {
			open: open{"fd/3", "/up/s", file(dev(253, 7), detached)}, target: volumeTarget,
			want: []string{"agent /up/s[up/s] open-file - ? foreign"},
		},
		"a removed file": {
			open: open{"fd/3", "/up/s (deleted)", file(dev(253, 7), detached)}, target: volumeTarget,
			want: []string{"agent /up/s[up/s] open-file - ? foreign deleted"},
		},
		"a file of another device":                       {open: open{"fd/3", "/x", file(dev(253, 8), detached)}, target: volumeTarget},
		"a socket that has the text of none":             {open: open{"fd/3", "socket:[7]", file(dev(253, 7), detached)}, target: volumeTarget},
		"of a part of the file system it cannot be told": {open: open{"fd/3", "/x", dir(dev(8, 1), detached)}, target: pathOf("/srv/data"), unknown: "where in it is not known"},
		"a directory by the node's own mount": {
			open: open{"fd/3", volume + "/sub", dir(dev(253, 7), 30)}, target: volumeTarget,
			want: []string{"agent " + volume + "/sub open-directory - rw foreign"},
		},
		"a directory from which the path is reached": {
			open: open{"fd/3", "/etc", dir(dev(8, 1), 20)}, target: pathOf("/srv/data"),
			want: []string{"agent /etc open-directory - rw foreign"},
		},
		"a file in the path": {
			open: open{"fd/3", "/srv/data/key", file(dev(8, 1), 20)}, target: pathOf("/srv/data"),
			want: []string{"agent /srv/data/key[key] open-file - rw foreign"},
		},
		"a directory of the node, from which what is mounted there is reached": {
			open: open{"fd/3", "/etc", dir(dev(8, 1), 20)}, target: token,
			want: []string{"agent /etc open-directory - rw foreign"},
		},
		"a file of the node, from which nothing is": {open: open{"fd/3", "/etc/x", file(dev(8, 1), 20)}, target: token},
		"a directory above what another mount lies over": {
			open: open{"cwd", "/h", dir(dev(8, 1), 77)}, target: pathOf("/srv/data"),
			table: "77 500 8:1 / /h rw - ext4 /dev/sda1 rw\n78 77 0:70 / /h/srv rw - tmpfs over rw",
		},
		"a directory below what another mount lies over": {
			open: open{"cwd", "/h/srv", dir(dev(8, 1), 77)}, target: pathOf("/srv/data"),
			table: "77 500 8:1 / /h rw - ext4 /dev/sda1 rw\n78 77 0:70 / /h/srv rw - tmpfs over rw",
			want:  []string{"agent /h/srv open-directory - rw foreign"},
		},
		"a file beside the path": {open: open{"fd/3", "/srv/data2/key", file(dev(8, 1), 20)}, target: pathOf("/srv/data")},
		"a file by another path": {open: open{"fd/3", "key", file(dev(8, 1), 77)}, target: pathOf("/srv/data"), table: "77 500 8:1 /srv /s rw - ext4 /dev/sda1 rw", want: []string{"agent /s/data host-path asked rw foreign"}},
		"what its own mount shows is not told twice": {
			open: open{"fd/3", "/data", dir(dev(253, 7), 77)}, target: volumeTarget, table: "77 500 253:7 / /data rw - xfs /dev/vg0/pvc-1 rw",
			want: []string{"agent /data not-asked - rw foreign"},
		},
		"what its own mount shows, and another lies over": {
			open: open{"fd/3", "/data", dir(dev(253, 7), 77)}, target: volumeTarget,
			table: "77 500 253:7 / /data ro - xfs /dev/vg0/pvc-1 rw\n78 77 0:70 / /data rw - tmpfs over rw",
			want:  []string{"agent /data open-directory - ro foreign"},
		},
		"the block device": {
			open: open{"fd/3", "/dev/x", Stat{Device: dev(0, 6), Block: dev(253, 7), MountID: 5}}, target: volumeTarget,
			want: []string{"agent /dev/x device - ? foreign"},
		},
		"another block device": {open: open{"fd/3", "/dev/x", Stat{Device: dev(0, 6), Block: dev(253, 8), MountID: 5}}, target: volumeTarget},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			a := agent(bind("/srv", "/s"))
			n.add(a, strings.TrimSpace(rootfs+"\n"+test.table)+"\n")
			n.open(int(a.inode), test.open.link, test.open.text, test.open.Stat)
			n.open(1, "fd/9", "/", dir(dev(253, 7), detached)) // the node's own does not count
			r := Find(t.Context(), n.Node, []target.Target{test.target})
			if diff := cmp.Diff(test.want, told(r)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if r.Reached() != (len(test.want) > 0) {
				t.Errorf("reached: %v", r.Reached())
			}
			if test.unknown == "" != (len(r.Unknown) == 0) || len(r.Unknown) > 0 && !strings.Contains(r.Unknown[0].Why, test.unknown) {
				t.Errorf("unknown %v, want %q", r.Unknown, test.unknown)
			}
			for _, v := range r.Viewers {
				for _, p := range v.Paths {
					if show := p.Evidence[0].Show; strings.HasPrefix(p.Through.Kind, "open-") && !strings.HasPrefix(show, fmt.Sprintf("ls -l /proc/202/%s", test.open.link)) {
						t.Errorf("evidence: %q", show)
					}
				}
			}
		})
	}
}

// TestOneFileThatIsOpenOftenIsToldOnce.
func TestOneFileThatIsOpenOftenIsToldOnce(t *testing.T) {
	n := newNode(t)
	n.add(agent(), rootfs+"\n")
	for fd := range 2 * maxPaths {
		n.open(202, fmt.Sprintf("fd/%d", fd), "/", Stat{Device: dev(253, 7), MountID: 999, Directory: true})
	}
	if got := told(Find(t.Context(), n.Node, []target.Target{pvc1})); len(got) != 1 {
		t.Errorf("%d lines", len(got))
	}
}

// TestOpenFilesThatCannotBeReadAreTold: nobody is known to reach it then.
func TestOpenFilesThatCannotBeReadAreTold(t *testing.T) {
	n := newNode(t)
	n.add(agent(), rootfs+"\n")
	n.open(202, "fd/3", "/x", Stat{})
	n.Stat = func(string) (Stat, error) { return Stat{}, fmt.Errorf("statx: %w", fs.ErrPermission) }
	r := Find(t.Context(), n.Node, []target.Target{pvc1})
	if len(r.Unknown) != 1 || r.Unknown[0].What != "open files of 1 process" || r.Reached() {
		t.Errorf("%v", r.Unknown)
	}
}
