//go:build linux

package guard_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// builtIn is the policy that is in the binary, in another mode.
func builtIn(t *testing.T, mode string) string {
	t.Helper()
	text, err := os.ReadFile("../../../config/policy.toml")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^mode\s*=\s*"audit"`)
	if n := len(line.FindAll(text, -1)); n != 1 {
		t.Fatalf("the built-in policy has %d lines with its mode, want 1", n)
	}
	return string(line.ReplaceAll(text, []byte(fmt.Sprintf("mode = %q", mode))))
}

// matchesNothing has a rule of every action, about other containers.
const matchesNothing = `version = 1
mode = "enforce"
default = "allow"

[[rule]]
name = "set"
match.namespace = ["elsewhere"]
action = "set"
propagation = "rslave"

[[rule]]
name = "set-by-source"
match.source = ["/nowhere/**", "${kubelet_root}/elsewhere/**"]
action = "set"
propagation = "rprivate"

[[rule]]
name = "deny"
match.destination = ["/nowhere/**"]
match.privileged = true
action = "deny"

[[rule]]
name = "audit"
match.pod_labels = { app = "other" }
action = "audit"
`

// matchesAll is a policy for the other way.
const matchesAll = `version = 1
mode = "enforce"
default = "allow"

[[rule]]
name = "all"
match.destination = ["/none"]
action = "set"
propagation = "rslave"
`

// unaffectedPods have mounts of every kind, none of which a policy above is
// about.
func unaffectedPods(t *testing.T) (pods map[string]harness.Pod, kubelet string) {
	t.Helper()
	dirs := harness.TestHostDirs(t)
	kubelet = filepath.Join(dirs.Shared.Path, "kubelet")
	for _, d := range []string{"pods/u/volumes/kubernetes.io~empty-dir/cache", "pods/u/volumes/kubernetes.io~csi/pvc-1/mount"} {
		if err := os.MkdirAll(filepath.Join(kubelet, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mounts := []harness.ContainerMount{
		{HostPath: dirs.Shared.Path, ContainerPath: "/none"},
		{HostPath: dirs.Private.Path, ContainerPath: "/z/private", ReadOnly: true},
		{HostPath: filepath.Join(kubelet, "pods/u/volumes/kubernetes.io~empty-dir/cache"), ContainerPath: "/a/cache"},
		{HostPath: filepath.Join(kubelet, "pods/u/volumes/kubernetes.io~csi/pvc-1/mount"), ContainerPath: "/data"},
	}
	follows := []harness.ContainerMount{
		{HostPath: dirs.Shared.Path, ContainerPath: "/host-to-container", Propagation: harness.HostToContainer},
		{HostPath: dirs.Slave.Path, ContainerPath: "/slave", Propagation: harness.HostToContainer},
		{HostPath: dirs.Shared.Path, ContainerPath: "/rro", ReadOnly: true, RecursiveReadOnly: true},
	}
	users := &harness.IDMap{Host: 100000, Length: 65536}
	var mapped []harness.ContainerMount
	for _, m := range mounts {
		m.Users = users
		mapped = append(mapped, m)
	}
	pod := func(name string, c harness.Container) harness.Pod {
		c.Name = "main"
		return harness.Pod{
			Namespace: "prod", Name: name, UID: "uid-" + name, Labels: map[string]string{"app": "web"},
			Containers: []harness.Container{c},
		}
	}
	userns := pod("userns", harness.Container{Mounts: mapped})
	userns.Users = users
	return map[string]harness.Pod{
		"ordinary": pod("ordinary", harness.Container{Mounts: append(slices.Clone(mounts), follows...)}),
		"privileged": pod("privileged", harness.Container{Privileged: true, Mounts: append(slices.Clone(mounts), append(follows,
			harness.ContainerMount{HostPath: dirs.Shared.Path, ContainerPath: "/bidirectional", Propagation: harness.Bidirectional})...)}),
		"userns": userns,
	}, kubelet
}

// specs runs the pods on a node and returns what runc was given for each, as
// it was written, with what differs between two nodes and two runs replaced:
// ids, the node's directory and the number of the pod's process. There are no
// times in it.
func specs(t *testing.T, s *harness.Suite, pods map[string]harness.Pod) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(pods)) {
		sandbox := s.Run(pods[name])
		id := sandbox.Containers["main"]
		text, err := os.ReadFile(filepath.Join(s.Bundle(id), "config.json"))
		if err != nil {
			t.Fatal(err)
		}
		normal := strings.NewReplacer(id, "CONTAINER", sandbox.ID, "SANDBOX", s.Dir, "NODE").Replace(string(text))
		pid := regexp.MustCompile(`"/proc/(\d+)/ns/`)
		pids := map[string]bool{}
		for _, m := range pid.FindAllStringSubmatch(normal, -1) {
			pids[m[1]] = true
		}
		if len(pids) != 1 {
			t.Errorf("%s: namespaces of %d processes, want those of the pod alone: %v", name, len(pids), pids)
		}
		all[name] = pid.ReplaceAllString(normal, `"/proc/PID/ns/`)
	}
	return all
}

// TestUnaffectedContainersAreTheSame: a container that the policy changes
// nothing of is byte for byte what it is without the plugin.
func TestUnaffectedContainersAreTheSame(t *testing.T) {
	pods, kubelet := unaffectedPods(t)
	without := harness.New(t, harness.Config{NoNRI: true})
	want := specs(t, without, pods)
	if len(want) != 3 || !strings.Contains(want["userns"], `"uidMappings"`) {
		t.Fatalf("the pods are not what they should be: %v", want["userns"])
	}
	for name, policy := range map[string]string{
		"built-in": builtIn(t, "enforce"), "rules that do not match": matchesNothing,
	} {
		t.Run(name, func(t *testing.T) {
			g := start(t, ward.Options{Policy: policy, Settings: fmt.Sprintf("host.kubelet_root = %q", kubelet)})
			got := specs(t, g.In(t), pods)
			for pod, text := range want {
				if got[pod] != text {
					t.Errorf("%s (-without +with):\n%s", pod, diffJSON(text, got[pod]))
				}
			}
			for pod := range pods {
				if _, err := g.Await(t.Context(), 0, func(r ward.Record) bool {
					return r.Event() == "task" && r.At("container", "pod", "name") == pod
				}); err != nil {
					t.Errorf("the plugin did not see %s start: %v", pod, err)
				}
			}
			for _, r := range mustRecords(t, g.Ward) {
				if r.Event() == "drift" {
					t.Errorf("unexpected record: %s", r.Message())
				}
			}
		})
	}

	// The comparison can tell: a change of one mount shows, and where nothing
	// can be changed nothing does.
	t.Run("a rule that matches", func(t *testing.T) {
		g := start(t, ward.Options{Policy: matchesAll})
		got := specs(t, g.In(t), pods)
		for pod, text := range want {
			if changed := got[pod] != text; changed != (pod != "userns") {
				t.Errorf("%s: changed: %t\n%s", pod, changed, diffJSON(text, got[pod]))
			}
		}
	})
}

// diffJSON shows the difference a member a line.
func diffJSON(a, b string) string {
	lines := func(s string) []string { return strings.SplitAfter(s, ",") }
	return cmp.Diff(lines(a), lines(b))
}
