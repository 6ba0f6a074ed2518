package exposure

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/target"
)

// toldWriters is a report in short, one line a mount.
func toldWriters(r WriterReport) []string {
	var all []string
	for _, w := range r.Writers {
		for _, m := range w.Mounts {
			all = append(all, fmt.Sprintf("%s %s %s onto %s: %s, can: %s", name(w.Who), m.Path, m.Through.Kind, strings.Join(m.HostPaths, ","), m.Shared.Truth, w.Can.Truth))
		}
	}
	return all
}

// TestWhoCouldMountOntoTheHost: by peer groups of the host, never by the word
// "shared"; and whether it has the right.
func TestWhoCouldMountOntoTheHost(t *testing.T) {
	host := lines(
		"20 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw",
		"21 20 0:60 / /run rw shared:5 - tmpfs tmpfs rw",
		"30 20 253:7 / "+volume+" rw shared:7 - xfs /dev/vg0/pvc-1 rw",
	)
	driver := lines(rootfs, "600 500 8:1 /var/lib/kubelet /var/lib/kubelet rw shared:1 - ext4 /dev/sda1 rw")
	cni := lines(rootfs, "600 500 0:60 /netns /run/netns rw shared:5 - tmpfs tmpfs rw")
	not := lines(rootfs,
		"600 500 8:1 / /a rw master:1 - ext4 /dev/sda1 rw",
		"601 500 8:1 / /b rw shared:77 master:1 - ext4 /dev/sda1 rw",
		"602 500 8:1 / /c rw - ext4 /dev/sda1 rw")
	shared := bind(root, root, "rshared")
	for name, test := range map[string]struct {
		pod    pod
		table  string
		target []target.Target
		want   []string
		able   bool
	}{
		"a driver that may": {
			pod: pod{caps: allCaps, mounts: []facts.Mount{shared}}, table: driver,
			want: []string{"agent /var/lib/kubelet kubelet-root onto /var/lib/kubelet: yes, can: yes"}, able: true,
		},
		"one that could and has not the right": {
			pod: pod{mounts: []facts.Mount{shared}}, table: driver,
			want: []string{"agent /var/lib/kubelet kubelet-root onto /var/lib/kubelet: yes, can: no"},
		},
		"one in a user namespace that does not own the mounts, which the kernel does not make": {
			pod: pod{caps: allCaps, user: 905, mounts: []facts.Mount{shared}}, table: driver,
			want: []string{"agent /var/lib/kubelet kubelet-root onto /var/lib/kubelet: yes, can: yes"}, able: true,
		},
		"slaves, a group of its own, a private copy": {pod: pod{caps: allCaps}, table: not},
		"onto a place of the target": {
			pod: pod{caps: allCaps, mounts: []facts.Mount{shared}}, table: driver, target: []target.Target{pvc1},
			want: []string{"agent /var/lib/kubelet kubelet-root onto /var/lib/kubelet: yes, can: yes"}, able: true,
		},
		"onto another place than the target's": {pod: pod{caps: allCaps}, table: cni, target: []target.Target{pvc1}},
		"onto another directory of the same mount of the host": {
			pod: pod{caps: allCaps}, target: []target.Target{pvc1},
			table: lines(rootfs, "600 500 8:1 /srv /srv rw shared:1 - ext4 /dev/sda1 rw"),
		},
		"onto that other place": {
			pod: pod{caps: allCaps}, table: cni,
			want: []string{"agent /run/netns not-asked onto /run/netns: yes, can: yes"}, able: true,
		},
	} {
		n := newNode(t, host)
		test.pod.inode, test.pod.name, test.pod.uid = 202, "agent", uidB
		n.add(test.pod, test.table)
		r := Writers(context.Background(), n.Node, test.target)
		if diff := cmp.Diff(test.want, toldWriters(r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if r.Able() != test.able || len(r.Unknown) > 0 {
			t.Errorf("%s: able %v, unknown %v", name, r.Able(), r.Unknown)
		}
	}
}

// TestGroupsThatChangeMeanwhile: a number that the host has only before or only
// after cannot be told, and one that is new in the second reading of a container
// is found.
func TestGroupsThatChangeMeanwhile(t *testing.T) {
	with := "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n21 20 8:2 / /mnt rw shared:7 - ext4 /dev/sda2 rw\n"
	again := "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n29 20 8:2 / /mnt rw shared:7 - ext4 /dev/sda2 rw\n"
	without := "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
	for name, test := range map[string]struct {
		host []string // read for the finder, before, in the scan twice, after
		want string
	}{
		"the whole time":  {[]string{with}, "yes"},
		"gone since":      {[]string{with, with, with, with, without}, "unknown"},
		"new":             {[]string{without, without, without, without, with}, "unknown"},
		"used by another": {[]string{with, with, with, with, again}, "unknown"},
	} {
		n := newNode(t, test.host...)
		n.add(pod{inode: 202, uid: uidB, name: "agent", caps: allCaps}, lines(rootfs), lines(rootfs, "600 500 8:2 / /m rw shared:7 - ext4 /dev/sda2 rw"))
		r := Writers(context.Background(), n.Node, nil)
		want := []string{"agent /m not-asked onto /mnt: " + test.want + ", can: yes"}
		if diff := cmp.Diff(want, toldWriters(r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestTheRightToMount: what is in the way, and what is not known to be.
func TestTheRightToMount(t *testing.T) {
	f := finder{Node: newNode(t).Node}
	user := func(ns uint64, caps, bounding []string) User {
		return User{UserNamespace: ns, Capabilities: caps, bounding: bounding}
	}
	admin := []string{capSysAdmin}
	for name, test := range map[string]struct {
		who  Who
		want facts.Truth
	}{
		"it has the capability":               {Who{UserNamespace: hostUserNS, Users: []User{user(hostUserNS, admin, admin)}}, facts.Yes},
		"of two users one has":                {Who{UserNamespace: hostUserNS, Users: []User{user(hostUserNS, nil, nil), user(hostUserNS, admin, admin)}}, facts.Yes},
		"in the node's user namespace":        {Who{UserNamespace: 905, Users: []User{user(hostUserNS, admin, admin)}}, facts.Yes},
		"in another user namespace":           {Who{UserNamespace: hostUserNS, Users: []User{user(905, admin, admin)}}, facts.Unknown},
		"whose it is is not known":            {Who{Users: []User{user(0, admin, admin)}}, facts.Unknown},
		"it could get it":                     {Who{UserNamespace: hostUserNS, Users: []User{user(hostUserNS, nil, admin)}}, facts.Unknown},
		"it has not and cannot get it":        {Who{UserNamespace: hostUserNS, Users: []User{user(hostUserNS, nil, nil)}}, facts.No},
		"not all its processes could be read": {Who{Users: []User{user(hostUserNS, nil, nil)}, UsersWhy: "denied"}, facts.Unknown},
		"privileged, and no process was read": {Who{Privileged: facts.Is(true, "x"), UsersWhy: "denied"}, facts.Yes},
		"nobody is in it":                     {Who{Kind: KindHeld}, facts.Unknown},
	} {
		if got := f.canMount(test.who); got.Truth != test.want || got.Why == "" {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestTheNodeIsNoWriter: its own namespace is not listed, a service of it with
// shared mounts is, and does not count.
func TestTheNodeIsNoWriter(t *testing.T) {
	n := newNode(t)
	n.namespace(301, hostUserNS, "700 600 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n")
	n.process(301, namespaces.Process{PID: 301, User: hostUserNS, Owner: namespaces.Owner{Unit: "docker.service", Cgroup: "/system.slice/docker.service"}}, "0", allCaps, "0 0 4294967295", "pid:[1]")
	r := Writers(context.Background(), n.Node, nil)
	if r.Able() || len(r.Writers) != 1 || r.Writers[0].Unit != "docker.service" {
		t.Errorf("%+v", r.Writers)
	}
	if i := slices.IndexFunc(r.Writers, func(w Writer) bool { return w.Kind == KindHost }); i >= 0 {
		t.Errorf("the host: %+v", r.Writers[i])
	}
}
