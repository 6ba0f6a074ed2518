package learn

import (
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// TestAMountIsKnownByWhereItIsOnTheHost, but below a kubelet's root that is a link.
func TestAMountIsKnownByWhereItIsOnTheHost(t *testing.T) {
	const root = "/var/lib/kubelet"
	at := func(canonical string) *facts.HostMount { return &facts.HostMount{Canonical: canonical} }
	for _, test := range []struct {
		name, source string
		host         *facts.HostMount
		root, want   string // "": it is not known
	}{
		{"not resolved", "/srv/../data/", nil, root, "/data"},
		{"not resolved, and no path", "data", nil, root, ""},
		{"resolved to nothing", "/srv", at(""), root, "/srv"},
		{"resolved to no path", "/srv", at("x"), root, "/srv"},
		{"neither is a path", "data", at("x"), root, ""},
		{"a link", "/srv", at("/mnt/srv"), root, "/mnt/srv"},
		{"no path, resolved", "data", at("/mnt/srv"), root, "/mnt/srv"},
		{"a link to the root", "/srv", at(root + "/pods"), root, root + "/pods"},
		{"a link below the root", root + "/a", at(root + "/b"), root, root + "/b"},
		{"the root is a link", root + "/pods/u", at("/data/kubelet/pods/u"), root, root + "/pods/u"},
		{"the root itself is a link", root, at("/data/kubelet"), root, root},
		{"a name that begins as the root's", root + "x", at("/data/x"), root, "/data/x"},
		{"no root", root + "/a", at("/data/a"), "", "/data/a"},
		{"a root that is no path", "var/lib/a", at("/data/a"), "var/lib", "/data/a"},
		{"all is below the root", "/a", at("/data/a"), "/", "/data/a"},
	} {
		got, ok := sourcePath(facts.Mount{Source: test.source, Host: test.host}, test.root)
		if got != test.want || ok != (test.want != "") {
			t.Errorf("%s: %q, %v; want %q", test.name, got, ok, test.want)
		}
	}
}

// TestWhatIsGeneratedInThePathOfAPodsVolumeMayBeAnything, and nothing else may.
func TestWhatIsGeneratedInThePathOfAPodsVolumeMayBeAnything(t *testing.T) {
	const (
		root = "/var/lib/kubelet"
		pv   = "pvc-0c9bd0f5-4a6e-4d4a-9f0a-0123456789ab"
	)
	for _, test := range []struct{ path, want string }{
		{root, "${kubelet_root}"},
		{root + "/pods", "${kubelet_root}/pods"},
		{root + "/pods/own", "${kubelet_root}/pods/own"},
		{root + "/pods/own/volumes", "${kubelet_root}/pods/own/volumes"},
		{root + "/pods/own/volumes/kubernetes.io~csi", "${kubelet_root}/pods/*/volumes/kubernetes.io~csi"},
		{root + "/pods/own/volumes/kubernetes.io~csi/" + pv + "/mount", "${kubelet_root}/pods/*/volumes/kubernetes.io~csi/*/mount"},
		{root + "/pods/own/volumes/kubernetes.io~csi/x" + pv + "/mount", "${kubelet_root}/pods/*/volumes/kubernetes.io~csi/x" + pv + "/mount"},
		{root + "/pods/own/volumes/kubernetes.io~csi/" + pv + "x/mount", "${kubelet_root}/pods/*/volumes/kubernetes.io~csi/" + pv + "x/mount"},
		{root + "/pods/own/volumes/kubernetes.io~csi/data/" + pv, "${kubelet_root}/pods/*/volumes/kubernetes.io~csi/data/" + pv},
		{root + "/pods/own/volumes/kubernetes.io~csi/v*/own", "${kubelet_root}/pods/*/volumes/kubernetes.io~csi/" + policy.Literal("v*") + "/own"},
		{root + "/pods/own/volume-subpaths/" + pv + "/app/0", "${kubelet_root}/pods/*/volume-subpaths/*/app/0"},
		{root + "/pods/own/volumeDevices/kubernetes.io~csi/" + pv, "${kubelet_root}/pods/*/volumeDevices/kubernetes.io~csi/*"},
		{root + "/pods/own/plugins/kubernetes.io~csi/" + pv, "${kubelet_root}/pods/own/plugins/kubernetes.io~csi/" + pv},
		{root + "/pods/other/volumes/kubernetes.io~csi/" + pv + "/mount", "${kubelet_root}/pods/other/volumes/kubernetes.io~csi/" + pv + "/mount"},
		{root + "/plugins/own/volumes/kubernetes.io~csi/" + pv, "${kubelet_root}/plugins/own/volumes/kubernetes.io~csi/" + pv},
		{"/pods/own/volumes/kubernetes.io~csi/" + pv, "/pods/own/volumes/kubernetes.io~csi/" + pv},
		{"/srv/*", "/srv/" + policy.Literal("*")},
		{"/", "/"},
	} {
		if got := sourceGlob(test.path, facts.Pod{UID: "own"}, root); got != test.want {
			t.Errorf("%s: %s, want %s", test.path, got, test.want)
		}
	}
	const path = root + "/pods/own/volumes/kubernetes.io~csi/x"
	if got := sourceGlob(path, facts.Pod{}, root); got != "${kubelet_root}/pods/own/volumes/kubernetes.io~csi/x" {
		t.Errorf("of a pod without a uid: %s", got)
	}
}
