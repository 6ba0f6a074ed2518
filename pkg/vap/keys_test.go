package vap

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/policy"
)

func vars() policy.Vars {
	return policy.Vars{KubeletRoot: "/var/lib/kubelet", RuntimeState: "/run/containerd", RuntimeRoot: "/var/lib/containerd"}
}

// TestWhatAManifestShowsOfAKey: what it does not show may always hold and never
// surely does.
func TestWhatAManifestShowsOfAKey(t *testing.T) {
	for _, test := range []struct {
		key           policy.Key
		surely, maybe expr
	}{
		{policy.Key{Name: "namespace", Values: []string{"a", "b"}}, `(request.namespace == "a" || request.namespace == "b")`, `(request.namespace == "a" || request.namespace == "b")`},
		{policy.Key{Name: "container", Values: []string{"a", "*"}}, always, always},
		{policy.Key{Name: "pod", Values: []string{"a?"}}, `!variables.template && variables.name.matches("^(?s:a.)$")`, `(variables.template || variables.name.matches("^(?s:a.)$"))`},
		{policy.Key{Name: "readonly", Values: []string{"true"}}, `m.readonly == "yes"`, `(m.readonly == "yes" || m.readonly == "?")`},
		{policy.Key{Name: "user_namespace", Values: []string{"false"}}, `!variables.userNamespace`, `!variables.userNamespace`},
		{policy.Key{Name: "privileged", Values: []string{"false"}}, `m.privileged == "no"`, `m.privileged == "no"`},
		{policy.Key{Name: "static_pod", Values: []string{"true"}}, never, never},
		{policy.Key{Name: "static_pod", Values: []string{"false"}}, always, always},
		{policy.Key{Name: "pod_annotations", Of: "a.b/c", Values: []string{"x"}}, `"a.b/c" in variables.annotations && variables.annotations["a.b/c"] == "x"`, `"a.b/c" in variables.annotations && variables.annotations["a.b/c"] == "x"`},
		{policy.Key{Name: "pod_annotations", Of: "kubernetes.io/config.source", Values: []string{"file"}}, never, always},
		{policy.Key{Name: "pod_labels", Of: "io.kubernetes.pod.name", Values: []string{"x"}}, never, always},
		{policy.Key{Name: "pod_labels", Of: "topology.kubernetes.io/zone", Values: []string{"x"}}, never, always},
		{policy.Key{Name: "pod_labels", Of: "job-name", Values: []string{"*"}}, `!variables.template && "job-name" in variables.labels`, `(variables.template || "job-name" in variables.labels)`},
		{policy.Key{Name: "destination", Values: []string{"/a"}}, `m.destination == "/a"`, `(m.destination == "?" || m.destination == "/a")`},
		{policy.Key{Name: "source", Values: []string{"/a{,b}"}}, never, always},
		{policy.Key{Name: "source", Values: []string{"${nothing}/a"}}, never, always},
		{policy.Key{Name: "hazard", Values: []string{"MW101"}}, never, always},
		{policy.Key{Name: "image", Values: []string{"*"}}, never, always},
		{policy.Key{Name: "volume.kind", Values: []string{"csi", "none"}}, `m.kind in ["csi"]`, `(m.kind in ["csi"] || m.kind == "?")`},
		{policy.Key{Name: "volume.kind", Values: []string{"none"}}, never, never},
		{policy.Key{Name: "volume.driver", Values: []string{"*"}}, never, always},
		{policy.Key{Name: "host.propagation", Values: []string{"shared"}}, never, always},
		{policy.Key{Name: "a key of tomorrow", Values: []string{"x"}}, never, always},
	} {
		got := readKey(test.key, vars())
		if diff := cmp.Diff([]expr{test.surely, test.maybe}, []expr{got.surely, got.maybe}); diff != "" {
			t.Errorf("%s %q: %s", test.key.Path(), test.key.Values, diff)
		}
		if got.why == "" && got.surely == never && got.maybe == always {
			t.Errorf("%s: nothing tells why it is not known", test.key.Path())
		}
	}
}

// TestUnderExceptATableHoldsTogether: wherever its keys stand.
func TestUnderExceptATableHoldsTogether(t *testing.T) {
	keys := []policy.Key{
		{Name: "volume.kind", Values: []string{"csi"}},
		{Name: "pod_labels", Of: "a", Values: []string{"*"}},
		{Name: "namespace", Values: []string{"n"}},
		{Name: "volume.driver", Values: []string{"*"}},
		{Name: "pod_labels", Of: "b", Values: []string{"*"}},
	}
	var apart, joined []expr
	for _, r := range read(keys, vars(), false) {
		apart = append(apart, r.surely)
	}
	for _, r := range read(keys, vars(), true) {
		joined = append(joined, r.surely)
		if r.mount != strings.Contains(string(r.maybe), "m.") {
			t.Errorf("%s: of a mount: %v", r.maybe, r.mount)
		}
	}
	want := []expr{never, `"a" in variables.labels && "b" in variables.labels`, `request.namespace == "n"`}
	if diff := cmp.Diff(want, joined); diff != "" || len(apart) != len(keys) {
		t.Error(apart, diff)
	}
}

// TestASourceByACommonLink: a hostPath may be written through a link that every
// distribution has, and so may a glob.
func TestASourceByACommonLink(t *testing.T) {
	const varRun = `(p == "/var/run" || p.startsWith("/var/run/"))`
	for _, test := range []struct {
		glob          pathGlob
		surely, maybe expr
	}{
		{pathGlob{"/data", ""}, `p == "/data"`, `p == "/data"`},
		{pathGlob{"/run/x", ""}, `p == "/run/x"`, `(p == "/run/x" || p == "/var/run/x")`},
		{pathGlob{"/var/run/x", ""}, `p == "/var/run/x"`, `(p == "/var/run/x" || p == "/run/x")`},
		{pathGlob{"/var/lib", "**"}, `(p == "/var/lib" || p.startsWith("/var/lib/"))`, `(p == "/var/lib" || p.startsWith("/var/lib/"))`},
		// /var/run/x is /run/x on the node, and not below /var.
		{pathGlob{"/var", "*"}, `p.matches("^/var/[^/]*$") && !((p == "/var/lock" || p.startsWith("/var/lock/"))) && !(` + varRun + `)`, `p.matches("^/var/[^/]*$")`},
		{pathGlob{"/", "**"}, `p.startsWith("/")`, ``},
	} {
		surely, maybe, ok := test.glob.source("p")
		if test.maybe == "" {
			maybe = ""
		}
		if diff := cmp.Diff([]expr{test.surely, test.maybe}, []expr{surely, maybe}); diff != "" || !ok {
			t.Errorf("%v: %v %s", test.glob, ok, diff)
		}
	}
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{"mountward": true, "a.b-c.9": true, "": false, "A": false, "a_b": false, "-a": false, "a.": false, "a\n": false} {
		if ValidName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
