//go:build linux

package guard_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// shape is a pod as a manifest and as the CRI has it.
type shape struct {
	name, namespace, label string
	privileged, users      bool
	mounts                 []shapeMount
	refused                bool
	decided                []string // "DESTINATION ACTION RESULT" of its mounts
}

type shapeMount struct {
	at, source string // a source without a slash is an emptyDir
	asked      harness.Propagation
	ro, rro    bool
}

const shapesPolicy = `version = 1
mode = "enforce"
default = "allow"
[[rule]]
name = "drivers"
match.namespace = ["drivers"]
match.propagation = ["shared"]
action = "allow"
[[rule]]
name = "lowered"
match.pod_labels = { lower = "yes" }
match.propagation = ["shared"]
action = "set"
propagation = "rprivate"
[[rule]]
name = "nobody-else"
reason = "ask"
match.propagation = ["shared"]
action = "deny"
[[rule]]
name = "follow"
match.source = ["${kubelet_root}/pods", "%s/real", "%s"]
match.propagation = ["private"]
action = "set"
propagation = "rslave"
[[rule]]
name = "seen"
match.source = ["${kubelet_root}/pods/*/volumes/kubernetes.io~empty-dir/**"]
action = "audit"
`

// TestAManifestIsExplainedAsItsContainerIs: of the same pod, the manifest before it
// is made, the container when it runs, and what containerd gave to runc.
func TestAManifestIsExplainedAsItsContainerIs(t *testing.T) {
	dirs := harness.TestHostDirs(t)
	dir, private := dirs.Shared.Path, dirs.Private.Path
	kubelet := filepath.Join(dir, "kubelet")
	for _, d := range []string{filepath.Join(kubelet, "pods"), filepath.Join(dir, "real"), filepath.Join(dir, "x")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	g := start(t, ward.Options{
		Policy:   fmt.Sprintf(shapesPolicy, dir, private),
		Settings: fmt.Sprintf("host.kubelet_root = %q", kubelet),
	})
	settings := g.settings(kubelet)
	pods, x, link := filepath.Join(kubelet, "pods"), filepath.Join(dir, "x"), filepath.Join(dir, "link")
	for i, s := range []shape{
		{name: "plain", mounts: []shapeMount{{at: "/a", source: x}}, decided: []string{"/a allow unchanged"}},
		{name: "follows", mounts: []shapeMount{{at: "/b/c", source: x, asked: harness.HostToContainer}, {at: "/a", source: x}}, decided: []string{"/a allow unchanged", "/b/c allow unchanged"}},
		{name: "driver", namespace: "drivers", privileged: true, mounts: []shapeMount{{at: "/k", source: kubelet, asked: harness.Bidirectional}}, decided: []string{"/k allow unchanged"}},
		{name: "nodriver", privileged: true, mounts: []shapeMount{{at: "/k", source: kubelet, asked: harness.Bidirectional}}, refused: true, decided: []string{"/k deny refused"}},
		{name: "agent", mounts: []shapeMount{{at: "/z", source: pods}, {at: "/a", source: x, ro: true}}, decided: []string{"/z set applied", "/a allow unchanged"}},
		{name: "unshared", mounts: []shapeMount{{at: "/p", source: private}}, decided: []string{"/p set left"}},
		{name: "lowered", label: "yes", privileged: true, mounts: []shapeMount{{at: "/k", source: kubelet, asked: harness.Bidirectional}, {at: "/a", source: x, asked: harness.HostToContainer}}, decided: []string{"/k set applied", "/a allow unchanged"}},
		{name: "volumes", mounts: []shapeMount{{at: "/data", source: "data"}, {at: "/conf/deep", source: x, ro: true, rro: true}}, decided: []string{"/data allow unchanged", "/conf/deep allow unchanged"}},
		{name: "users", users: true, mounts: []shapeMount{{at: "/z", source: pods}}, decided: []string{"/z set left"}},
		{name: "link", mounts: []shapeMount{{at: "/l", source: link}}, decided: []string{"/l set applied"}},
	} {
		t.Run(s.name, func(t *testing.T) {
			g := g.in(t)
			uid := fmt.Sprintf("4c000000-0000-4000-8000-%012d", 900+i)
			file := filepath.Join(t.TempDir(), "pod.yaml")
			if err := os.WriteFile(file, []byte(s.manifest(uid)), 0o600); err != nil {
				t.Fatal(err)
			}
			before := explainedOf(t, g.ask(settings, "explain", "-f", file, "--policy", g.Policy, "-o", "json"))
			if diff := cmp.Diff(s.decided, before.decided(s.mounts)); diff != "" {
				t.Errorf("the manifest (-want +got):\n%s", diff)
			}
			for _, own := range s.own(uid, kubelet) {
				if err := os.MkdirAll(filepath.Dir(own.source), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(own.source, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			id, err := g.tryOne(s.pod(uid, kubelet))
			if s.refused {
				if err == nil || before.Refusal == "" || !strings.Contains(err.Error(), before.Refusal) || before.code != 1 {
					t.Errorf("refused with %v, explained with exit code %d and %q", err, before.code, before.Refusal)
				}
				return
			}
			if err != nil || before.Refusal != "" || before.code != 0 {
				t.Fatalf("start: %v; explained with exit code %d and %q", err, before.code, before.Refusal)
			}
			g.await("task", id)
			running := explainedOf(t, g.ask(settings, "explain", "--container", id[:12], "--policy", g.Policy, "-o", "json"))
			if diff := cmp.Diff(before.told(s.mounts), running.told(s.mounts)); diff != "" {
				t.Errorf("-manifest +container, of which is unknown %v:\n%s", running.Unknown, diff)
			}
			spec, err := g.Spec(id)
			if err != nil {
				t.Fatal(err)
			}
			want, got := []string{}, []string{}
			made := map[string]bool{}
			for _, m := range spec.Mounts {
				made[m.Destination] = true
			}
			known := map[string]bool{}
			for _, m := range before.After.Mounts {
				known[m.Destination] = true
				if made[m.Destination] {
					got = append(got, m.line(m.Type == "bind"))
				}
			}
			for _, m := range spec.Mounts {
				if known[m.Destination] {
					want = append(want, specMount{m.Destination, m.Source, m.Type, m.Options}.line(m.Type == "bind"))
				}
			}
			if len(got) != 11+len(s.mounts) {
				t.Errorf("only %d mounts in common: %q", len(got), got)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-config.json +manifest:\n%s", diff)
			}
			if spec.Linux.RootfsPropagation != before.After.Root {
				t.Errorf("rootfsPropagation %q, the manifest says %q", spec.Linux.RootfsPropagation, before.After.Root)
			}
		})
	}
}

// manifest is the pod for kubectl.
func (s shape) manifest(uid string) string {
	var mounts, volumes []string
	for i, m := range s.mounts {
		mount := fmt.Sprintf("{name: v%d, mountPath: %s, mountPropagation: %s, readOnly: %t", i, m.at, []string{"None", "HostToContainer", "Bidirectional"}[m.asked], m.ro)
		if m.rro {
			mount += ", recursiveReadOnly: Enabled"
		}
		mounts = append(mounts, mount+"}")
		volume := fmt.Sprintf("{name: v%d, hostPath: {path: %q}}", i, m.source)
		if !strings.HasPrefix(m.source, "/") {
			volume = fmt.Sprintf("{name: v%d, emptyDir: {}}", i)
		}
		volumes = append(volumes, volume)
	}
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: %s, uid: %s, labels: {lower: %q}}
spec:
  hostUsers: %t
  hostNetwork: true # so that no CNI is needed
  containers:
  - name: main
    securityContext: {privileged: %t}
    volumeMounts: [%s]
  volumes: [%s]
`, s.name, s.in(), uid, s.label, !s.users, s.privileged, strings.Join(mounts, ", "), strings.Join(volumes, ", "))
}

func (s shape) in() string {
	if s.namespace == "" {
		return "default"
	}
	return s.namespace
}

// pod is the pod as the kubelet would ask for it.
func (s shape) pod(uid, kubelet string) harness.Pod {
	c := harness.Container{Name: "main", Privileged: s.privileged}
	p := harness.Pod{Namespace: s.in(), Name: s.name, UID: uid, Labels: map[string]string{"lower": s.label}}
	if s.users {
		p.Users = podUsers
	}
	for i, m := range s.mounts {
		source := m.source
		if !strings.HasPrefix(source, "/") {
			source = filepath.Join(kubelet, "pods", uid, "volumes/kubernetes.io~empty-dir", fmt.Sprintf("v%d", i))
		}
		c.Mounts = append(c.Mounts, harness.ContainerMount{
			HostPath: source, ContainerPath: m.at, Propagation: m.asked, ReadOnly: m.ro, RecursiveReadOnly: m.rro, Users: p.Users,
		})
	}
	for _, own := range s.own(uid, kubelet) {
		c.Mounts = append(c.Mounts, harness.ContainerMount{HostPath: own.source, ContainerPath: own.at, Users: p.Users})
	}
	p.Containers = []harness.Container{c}
	return p
}

// own are the files that the kubelet mounts into every container.
func (s shape) own(uid, kubelet string) []shapeMount {
	pod := filepath.Join(kubelet, "pods", uid)
	return []shapeMount{
		{at: "/etc/hosts", source: filepath.Join(pod, "etc-hosts")},
		{at: "/dev/termination-log", source: filepath.Join(pod, "containers/main/00000000")},
	}
}

type specMount struct {
	Destination, Source, Type string
	Options                   []string
}

// line is a mount to compare. That of a bind is whole but for a directory of the
// runtime's, whose name has the pod's id; others are told by their place.
func (m specMount) line(bind bool) string {
	switch {
	case !bind:
		return m.Destination + " " + m.Type
	case strings.Contains(m.Source, "/io.containerd.grpc.v1.cri/"):
		return m.Destination + " " + filepath.Base(m.Source) + " " + strings.Join(m.Options, ",")
	default:
		return m.Destination + " " + m.Source + " " + strings.Join(m.Options, ",")
	}
}

// explained is what explain says of one container.
type explained struct {
	Verdict, Refusal string
	Unknown          []unknown
	Mounts           []struct {
		Mount                                           specMount
		Asked, Decided, Wanted, Action, Result, Verdict string
		Rule                                            string
		Possible                                        answer
	}
	After struct {
		Mounts []specMount
		Root   string `json:"rootfs_propagation"`
	}
	code int
}

func explainedOf(t *testing.T, a asked) explained {
	t.Helper()
	var got struct {
		Schema     string
		Containers []explained
	}
	if err := json.Unmarshal([]byte(a.stdout), &got); err != nil || got.Schema != "mountward.explain/v1" || len(got.Containers) != 1 {
		t.Fatalf("%v in %q; exit code %d: %s", err, a.stdout, a.code, a.stderr)
	}
	got.Containers[0].code = a.code
	return got.Containers[0]
}

// of are the mounts that the pod asks for.
func (e explained) of(mounts []shapeMount, line func(i int) string) []string {
	var all []string
	for i, m := range e.Mounts {
		if slices.ContainsFunc(mounts, func(s shapeMount) bool { return s.at == m.Mount.Destination }) {
			all = append(all, line(i))
		}
	}
	return all
}

func (e explained) decided(mounts []shapeMount) []string {
	return e.of(mounts, func(i int) string {
		m := e.Mounts[i]
		return m.Mount.Destination + " " + m.Action + " " + m.Result
	})
}

func (e explained) told(mounts []shapeMount) []string {
	return e.of(mounts, func(i int) string {
		m := e.Mounts[i]
		return fmt.Sprintf("%s asked %s decided %s wanted %s: %s by %q, %s, %s; possible %s", m.Mount.line(true), m.Asked, m.Decided, m.Wanted, m.Action, m.Rule, m.Result, m.Verdict, m.Possible.Answer)
	})
}
