package facts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRole(t *testing.T) {
	const root = "/var/lib/kubelet"
	bind := func(source, propagation string) Mount {
		return Mount{Source: source, Destination: "/x", Type: "bind", Options: []string{"rbind", propagation}}
	}
	linked := bind("/link", "rprivate")
	linked.Host = &HostMount{Canonical: root + "/plugins/lvm"}
	for _, test := range []struct {
		name   string
		mounts []Mount
		want   string
	}{
		{"a driver that shares the root", []Mount{bind(root, "rshared"), bind(root+"/plugins/lvm", "rprivate")}, RoleCSINode},
		{"a driver that shares pods", []Mount{bind(root+"/pods", "rshared"), bind(root+"/plugins/lvm/", "rprivate")}, RoleCSINode},
		{"a driver in csi-plugins", []Mount{bind(root, "shared"), bind(root+"/csi-plugins/x/y", "rprivate")}, RoleCSINode},
		{"its directory is a link", []Mount{bind(root, "rshared"), linked}, RoleCSINode},
		{"nothing shared", []Mount{bind(root, "rslave"), bind(root+"/plugins/lvm", "rprivate")}, ""},
		{"shared elsewhere", []Mount{bind("/mnt", "rshared"), bind(root+"/plugins/lvm", "rprivate")}, ""},
		{"shared beside the root", []Mount{bind(root+"2", "rshared"), bind(root+"/plugins/lvm", "rprivate")}, ""},
		{"shared in vain: private came first", []Mount{{Source: root, Type: "bind", Options: []string{"rprivate", "rshared"}}, bind(root+"/plugins/lvm", "rprivate")}, ""},
		{"no directory of its own", []Mount{bind(root, "rshared"), bind(root+"/plugins", "rprivate")}, ""},
		{"the kubelet's staging is nobody's own", []Mount{bind(root, "rshared"), bind(root+"/plugins/kubernetes.io/csi", "rprivate")}, ""},
		{"a vendor named alike is its own", []Mount{bind(root, "rshared"), bind(root+"/plugins/kubernetes.io.example", "rprivate")}, RoleCSINode},
		{"no bind does not count", []Mount{{Source: root, Type: "tmpfs", Options: []string{"rshared"}}, bind(root+"/plugins/lvm", "rprivate")}, ""},
		{"none", nil, ""},
	} {
		if got := Role(test.mounts, root); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	if got := Role([]Mount{bind("/a", "rshared"), bind("/plugins/x", "rprivate")}, ""); got != "" {
		t.Errorf("no root known: %q, want none", got)
	}
}

func TestSources(t *testing.T) {
	for _, test := range []struct {
		mount Mount
		want  []string
	}{
		{Mount{Source: "/a/../b"}, []string{"/b"}},
		{Mount{Source: "/b", Host: &HostMount{Canonical: "/b"}}, []string{"/b"}},
		{Mount{Source: "/b", Host: &HostMount{Canonical: "/c"}}, []string{"/b", "/c"}},
		{Mount{Source: "rel", Host: &HostMount{Canonical: "/c"}}, []string{"/c"}},
		{Mount{Source: "tmpfs"}, nil},
	} {
		if diff := cmp.Diff(test.want, test.mount.Sources()); diff != "" {
			t.Errorf("%+v: -want +got\n%s", test.mount, diff)
		}
	}
}
