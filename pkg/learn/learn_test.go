package learn

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/workloads"
	"github.com/mountward/mountward/pkg/policy"
)

func sample() []facts.Container {
	own := func(pod, rest string) string {
		return node.KubeletRoot + "/pods/0c9bd0f5-4a6e-4d4a-9f0a-" + pod + "/" + rest
	}
	const pv = "volumes/kubernetes.io~csi/pvc-0c9bd0f5-4a6e-4d4a-9f0a-0123456789ab/mount"
	return []facts.Container{
		running("kube-system", "ebs-csi-node-x7k2p", "driver",
			bind("/var/lib/kubelet", "/var/lib/kubelet", facts.Shared), bind("/dev", "/dev", facts.Private)),
		running("monitoring", "exporter-bcdfg", "exporter", bind("/", "/host", facts.Slave)),
		running("prod", "web-7d9c5b8f4-x7k2p", "app", bind("/srv/data", "/data", facts.Unset)),
		running("prod", "web-7d9c5b8f4-zzzzz", "app", bind("/srv/data", "/data", facts.Slave)),
		running("prod", "web-admin-7d9c5b8f4-x7k2p", "app", bind("/srv/data", "/data", facts.Private)),
		running("prod", "web-admin-7d9c5b8f4-x7k2p", "side", bind("/srv/logs", "/logs", facts.Slave)),
		running("prod", "db-0", "db", bind(own("db-0", pv), "/db", facts.Slave)),
		running("prod", "db-11", "db", bind(own("db-11", pv), "/db", facts.Slave)),
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(name, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestThePolicyIsReadable(t *testing.T) {
	l, _ := learned(t, sample()...)
	golden(t, "testdata/policy.toml", l.Policy)
	if len(l.Unknown) > 0 {
		t.Errorf("unknown: %v", l.Unknown)
	}
}

func TestWhatRunsIsAllowedAndMoreIsNot(t *testing.T) {
	_, p := learned(t, sample()...)
	for _, c := range sample() {
		if slices.Contains(actions(p, c), facts.ActionDeny) {
			t.Errorf("%s is denied", describe(c))
		}
	}
	for _, test := range []struct {
		name string
		c    facts.Container
		want facts.Action
	}{
		{"the next pod of a Deployment", running("prod", "web-59f6c8d77b-qqqqq", "app", bind("/srv/data", "/data", facts.Slave)), facts.ActionAllow},
		{"the next pod of a StatefulSet", running("prod", "db-2", "db", bind(node.KubeletRoot+"/pods/0c9bd0f5-4a6e-4d4a-9f0a-db-2/volumes/kubernetes.io~csi/pvc-1/mount", "/db", facts.Slave)), facts.ActionAllow},
		{"less than was seen", running("kube-system", "ebs-csi-node-qqqqq", "driver", bind("/var/lib/kubelet", "/k", facts.Slave)), facts.ActionAllow},
		{"more than was seen", running("monitoring", "exporter-qqqqq", "exporter", bind("/", "/host", facts.Shared)), facts.ActionDeny},
		{"a mount without a word, which can be more than rslave", running("monitoring", "exporter-qqqqq", "exporter", bind("/", "/host", facts.Unset)), facts.ActionDeny},
		{"another source", running("monitoring", "exporter-qqqqq", "exporter", bind("/srv", "/host", facts.Slave)), facts.ActionDeny},
		{"another container of the pod", running("monitoring", "exporter-qqqqq", "side", bind("/", "/host", facts.Slave)), facts.ActionDeny},
		{"another namespace", running("default", "exporter-qqqqq", "exporter", bind("/", "/host", facts.Slave)), facts.ActionDeny},
		{"another workload whose name begins alike", running("prod", "web-admin-59f6c8d77b-qqqqq", "app", bind("/srv/data", "/data", facts.Slave)), facts.ActionDeny},
		{"what lies below", running("prod", "web-59f6c8d77b-qqqqq", "app", bind("/srv/data/x", "/data", facts.Slave)), facts.ActionDeny},
		{"the pods directory, of which a volume was seen", running("prod", "db-0", "db", bind(node.KubeletRoot+"/pods", "/db", facts.Slave)), facts.ActionDeny},
		{"all of a pod's directory", running("prod", "db-0", "db", bind(node.KubeletRoot+"/pods/x", "/db", facts.Slave)), facts.ActionDeny},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := actions(p, test.c)
			if got[len(got)-1] != test.want {
				t.Errorf("%s, want %s", got[len(got)-1], test.want)
			}
		})
	}
}

func TestTheSameContainersGiveTheSameBytes(t *testing.T) {
	var all []facts.Container // each differs from another in one thing alone
	for _, id := range []string{"1", "2"} {
		for _, name := range []string{"x", "y"} {
			for _, pod := range []string{"db-0", "db-1"} {
				for _, namespace := range []string{"prod", "test"} {
					c := running(namespace, pod, name, bind("/srv/"+namespace+pod+name+id, "/srv", facts.Slave))
					c.ID = id + name + pod + namespace
					all = append(all, c)
				}
			}
		}
	}
	all = append(all, sample()...)
	first, _ := learned(t, all...)
	for range 20 {
		shuffled := slices.Clone(all)
		rand.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		given := slices.Clone(shuffled)
		again, err := Learn(Seen{From: "a test", Vars: node, Containers: shuffled})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Policy, again.Policy) || !bytes.Equal(first.Tests, again.Tests) {
			t.Fatalf("the order of the containers shows:\n%s%s", cmp.Diff(string(first.Policy), string(again.Policy)), cmp.Diff(string(first.Tests), string(again.Tests)))
		}
		if diff := cmp.Diff(given, shuffled); diff != "" {
			t.Fatalf("what is learned from is changed: %s", diff)
		}
	}
}

// hostile names are tried as namespace, pod, container and source.
func hostile() []string {
	return []string{
		`*`, `**`, `?`, `a*b`, `{a,b}`, `[a-z]`, `\`, `\*`, `a\`, `"`, `"]`, "\"]\naction = \"allow\"\n[[rule]]", "a\nb", "a\x01b", "\u202eb",
		`${kubelet_root}`, `a,b`, `#`, `'`, `'''`, `"""`, " ", "ü", "a/b", "\U000e0001", strings.Repeat("x", maxName-10), strings.Repeat("*", maxName-10),
	}
}

func TestHostileNamesStandForThemselvesAlone(t *testing.T) {
	for _, text := range hostile() {
		t.Run(fmt.Sprintf("%.20q", text), func(t *testing.T) {
			source := "/srv/" + text
			clean, _ := facts.CleanAbs(source)
			l, p := learned(t, running(text, text, text, bind(source, "/a", facts.Slave)))
			if len(l.Unknown) > 0 {
				t.Errorf("not learned: %v", l.Unknown)
			}
			if got := actions(p, running(text, text, text, bind(source, "/a", facts.Slave))); slices.Contains(got, facts.ActionDeny) {
				t.Errorf("it is not allowed:\n%s", l.Policy)
			}
			for _, other := range append(hostile(), "ordinary", "a", "b", "axb", "srv") {
				if path, _ := facts.CleanAbs("/srv/" + other); other == text || path == clean {
					continue
				}
				for i, c := range []facts.Container{
					running(other, text, text, bind(source, "/a", facts.Slave)), running(text, other, text, bind(source, "/a", facts.Slave)),
					running(text, text, other, bind(source, "/a", facts.Slave)), running(text, text, text, bind("/srv/"+other, "/a", facts.Slave)),
				} {
					if got := actions(p, c); got[len(got)-1] != facts.ActionDeny {
						t.Errorf("%d: %q is allowed by what was learned of %q:\n%s", i, other, text, l.Policy)
					}
				}
			}
		})
	}
}

func TestWhatCannotBeWrittenIsSaid(t *testing.T) {
	bad := "a\xff"
	for name, test := range map[string]struct {
		c    facts.Container
		want facts.Unread
	}{
		"no UTF-8 in the namespace": {
			running(bad, "p", "c", bind("/a", "/a", facts.Slave)),
			facts.Unread{What: `container c of pod "a\xff"/p`, Why: "its namespace: it is not UTF-8, and a policy is"},
		},
		"no UTF-8 in the source": {
			running("n", "p", "c", bind("/a"+bad, "/a", facts.Slave)),
			facts.Unread{What: "mount /a of container c of pod n/p", Why: "it is not UTF-8, and a policy is"},
		},
		"too long": {
			running("n", "p", "c d", bind("/"+strings.Repeat("x", maxName), "/a", facts.Slave)),
			facts.Unread{What: `mount /a of container "c d" of pod n/p`, Why: "it is longer than 480 bytes"},
		},
		"a zero byte": {
			running("n", "p", "c", bind("/a\x00b", "/a", facts.Slave)),
			facts.Unread{What: "mount /a of container c of pod n/p", Why: "it has a zero byte"},
		},
		"no namespace": {
			running("", "p", "c", bind("/a", "/a", facts.Slave)),
			facts.Unread{What: `container c of pod ""/p`, Why: "it has no namespace: it was not made by Kubernetes, or that is not known"},
		},
		"no pod": {
			running("n", "", "c", bind("/a", "/a", facts.Slave)),
			facts.Unread{What: "container c", Why: "it has no name of a pod: it was not made by Kubernetes, or that is not known"},
		},
		"no name at all": {
			facts.Container{ID: "c0ffee"},
			facts.Unread{What: "container c0ffee", Why: "it has no namespace: it was not made by Kubernetes, or that is not known"},
		},
		"no container name": {
			running("n", "p", "", bind("/a", "/a", facts.Slave)),
			facts.Unread{What: `container "" of pod n/p`, Why: "it has no name: it was not made by Kubernetes, or that is not known"},
		},
		"a relative source": {
			running("n", "p", "c", bind("a", "/a", facts.Slave)),
			facts.Unread{What: "mount /a of container c of pod n/p", Why: "its source is no absolute path and was not resolved"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := learned(t, test.c, running("n", "good", "c", bind("/a", "/a", facts.Slave)))
			if diff := cmp.Diff([]facts.Unread{test.want}, l.Unknown); diff != "" {
				t.Error(diff)
			}
			if !bytes.Contains(l.Policy, []byte("NOT COMPLETE")) {
				t.Errorf("the policy does not say so:\n%s", l.Policy)
			}
			if !bytes.Contains(l.Policy, []byte(`match.pod         = ["good"]`)) {
				t.Errorf("the other is not learned:\n%s", l.Policy)
			}
		})
	}
}

func TestNothingSeenIsAPolicyForPrivateMounts(t *testing.T) {
	l, p := learned(t)
	if len(p.Rules) != 1 {
		t.Errorf("rules: %d\n%s", len(p.Rules), l.Policy)
	}
}

// Whatever runs on a node: what was seen is allowed, and a mount that was not seen of
// its workload, or asks for more, is denied.
func TestRandomNodes(t *testing.T) {
	kindsOf := []facts.Propagation{facts.Unset, facts.Private, facts.Slave, facts.Shared, facts.Unbindable}
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		pick := func(all ...string) string { return all[r.IntN(len(all))] }
		container := func() facts.Container {
			pod := pick("web-7d9c5b8f4-x7k2p", "web-7d9c5b8f4-zzzzz", "web-a-x7k2p", "web-x7k2p", "web-0", "web-0-x7k2p", "web-29384756-x7k2p", "web", "w*b-x7k2p")
			var mounts []facts.Mount
			for range r.IntN(5) {
				source := pick("/", "/srv", "/srv/a", "/srv/*", node.KubeletRoot, node.KubeletRoot+"/pods", node.KubeletRoot+"/plugins/x",
					node.KubeletRoot+"/pods/0c9bd0f5-4a6e-4d4a-9f0a-"+pod+"/volumes/kubernetes.io~empty-dir/"+pick("a", "b"))
				mounts = append(mounts, bind(source, fmt.Sprintf("/m%d", len(mounts)), kindsOf[r.IntN(len(kindsOf))]))
			}
			return running(pick("prod", "test"), pod, pick("app", "side", "a*"), mounts...)
		}
		var seen []facts.Container
		most := map[string]kinds{}
		key := func(c facts.Container, m facts.Mount) string {
			return workloadOf(c.Pod).pods + " " + c.Pod.Namespace + " " + c.Name + " " + sourceGlob(m.Source, c.Pod, node.KubeletRoot)
		}
		for i := range r.IntN(12) {
			c := container()
			c.ID = fmt.Sprint(i)
			seen = append(seen, c)
			for _, m := range c.Mounts {
				most[key(c, m)] |= 1 << m.Requested()
			}
		}
		l, p := learned(t, seen...)
		if len(l.Unknown) > 0 {
			t.Fatalf("seed %d: %v", seed, l.Unknown)
		}
		for _, c := range seen {
			if slices.Contains(actions(p, c), facts.ActionDeny) {
				t.Fatalf("seed %d: %s is denied", seed, describe(c))
			}
		}
		for range 50 {
			c := container()
			if !slices.ContainsFunc(seen, func(s facts.Container) bool { return workloadOf(s.Pod) == workloadOf(c.Pod) }) {
				continue // a glob may hold the names of workloads that were never seen
			}
			for i, d := range p.Decide(c, policy.Env{Vars: node}, false) {
				m := c.Mounts[i]
				asked := m.Requested()
				free := !m.Bind() || asked == facts.Private || asked == facts.Unbindable
				if want := free || most[key(c, m)].allowed().has(asked); want != (d.Action == facts.ActionAllow) {
					t.Fatalf("seed %d: %s of %s as %s is %s by %q\n%s", seed, m.Source, describe(c), asked, d.Action, d.Rule, l.Policy)
				}
			}
		}
	}
}

// The workloads of the shipped table are learned whole.
func TestRealWorkloads(t *testing.T) {
	const name = "../../config/examples/workloads.csv"
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := workloads.Parse(name, f, node.KubeletRoot)
	if err != nil {
		t.Fatal(err)
	}
	var containers []facts.Container
	for i, w := range all {
		c := w.Container
		c.ID, c.Pod.Namespace = fmt.Sprint(i), "kube-system"
		if c.Pod.Name == "" {
			c.Pod.Name = fmt.Sprintf("workload-%d", i)
		}
		if c.Name == "" {
			c.Name = "main"
		}
		containers = append(containers, c)
	}
	l, p := learned(t, containers...)
	t.Logf("%d containers, %d rules, %d bytes, unknown %v", len(containers), l.Rules, len(l.Policy), l.Unknown)
	for _, c := range containers {
		if slices.Contains(actions(p, c), facts.ActionDeny) {
			t.Errorf("%s is denied", describe(c))
		}
	}
}

// TestAPolicyThatWouldBeTooLargeIsAnError, and nothing is written.
func TestAPolicyThatWouldBeTooLargeIsAnError(t *testing.T) {
	var mounts []facts.Mount
	for i := range 3000 {
		mounts = append(mounts, bind(fmt.Sprintf("/%04d%s", i, strings.Repeat("x", maxName-10)), "/a", facts.Slave))
	}
	l, err := Learn(Seen{From: "a test", Vars: node, Containers: []facts.Container{running("n", "p", "c", mounts...)}})
	if err == nil || !strings.Contains(err.Error(), "write a policy of what was seen: ") {
		t.Errorf("error %v", err)
	}
	if l.Policy != nil || l.Tests != nil {
		t.Errorf("%d and %d bytes all the same", len(l.Policy), len(l.Tests))
	}
}
