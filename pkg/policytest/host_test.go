package policytest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// TestLookupFollowsAPathAsTheKernelDoes: the wanted paths are those of
// Linux 6.18 for the same links, in a directory as root.
func TestLookupFollowsAPathAsTheKernelDoes(t *testing.T) {
	h := Host{
		Mounts: []facts.HostMount{
			rootMount(),
			{MountPoint: "/data", Device: facts.DeviceNumber{Major: 253, Minor: 1}, Root: "/"},
			{MountPoint: "/data", Device: facts.DeviceNumber{Major: 253, Minor: 2}, Root: "/sub"},
			{MountPoint: "/database", Device: facts.DeviceNumber{Major: 253, Minor: 3}, Root: "/"},
		},
		Links: map[string]string{
			"/abs": "/data/kubelet", "/a/rel": "../data/x", "/chain": "abs/pods", "/loop": "loop", "/up": "/data/kubelet/..", "/here": ".",
		},
		Unresolved: []string{"/mnt/nfs"},
	}
	for _, test := range []struct{ path, canonical, identity, why string }{
		{"/", "/", "8:1 /", ""},
		{"/etc//x/./y/", "/etc/x/y", "8:1 /etc/x/y", ""},
		{"/abs", "/data/kubelet", "253:2 /sub/kubelet", ""},
		{"/abs/../x", "/data/x", "253:2 /sub/x", ""}, // not /x
		{"/a/rel/y", "/data/x/y", "253:2 /sub/x/y", ""},
		{"/chain/z", "/data/kubelet/pods/z", "253:2 /sub/kubelet/pods/z", ""},
		{"/up/q", "/data/q", "253:2 /sub/q", ""},
		{"/here/here/data", "/data", "253:2 /sub", ""},
		{"/../../data", "/data", "253:2 /sub", ""},
		{"/database/x", "/database/x", "253:3 /x", ""},
		{"/loop/x", "", "", "too many levels"},
		{"/mnt/nfs/x", "", "", "cannot be resolved"},
		{"/abs/../../mnt/nfs", "", "", "cannot be resolved"},
		{"/mnt/nfs2", "/mnt/nfs2", "8:1 /mnt/nfs2", ""},
		{"rel", "", "", "no absolute path"},
		{"", "", "", "no absolute path"},
	} {
		m, err := h.Lookup(test.path)
		if err != nil {
			if test.why == "" || !strings.Contains(err.Error(), test.why) {
				t.Errorf("%s: %v", test.path, err)
			}
			continue
		}
		id := m.Identity()
		if diff := cmp.Diff([]string{test.canonical, test.identity, test.why}, []string{m.Canonical, id.Device.String() + " " + id.Root, ""}); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.path, diff)
		}
	}
}

func TestAMountIsInTheStateThatFindmntPrints(t *testing.T) {
	for word, want := range map[string]string{
		"shared": "shared:2", "private": "private", "slave": "master:1048576", "private,slave": "master:1048576",
		"shared,slave": "shared:2 master:1048576", "unbindable": "unbindable",
	} {
		f, err := Parse("x", []byte("policy = [\"p\"]\n[workloads]\ntable = \"t\"\n[[host.mount]]\nat = \"/a\"\npropagation = \""+word+"\"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Host.Mounts[1].State.String(); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}
