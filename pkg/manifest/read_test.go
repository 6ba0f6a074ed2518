package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// pod is a manifest of one container with mounts and volumes.
func pod(mounts, volumes string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns, uid: u-1}\nspec:\n  containers:\n  - name: c\n    image: i\n    securityContext: {privileged: true}\n    volumeMounts: " +
		mounts + "\n  volumes: " + volumes + "\n"
}

func read(t *testing.T, text string) File {
	t.Helper()
	f, err := Read([]byte(text), Options{})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return f
}

// asks lists what the pod itself asks for: "DESTINATION SOURCE OPTIONS".
func asks(s Subject) []string {
	var all []string
	for i, m := range s.Container.Mounts {
		if s.Notes[i].MadeBy == "" {
			all = append(all, fmt.Sprintf("%s %s %s", m.Destination, m.Source, strings.Join(m.Options, ",")))
		}
	}
	return all
}

func TestEveryKindOfWorkloadMakesItsPods(t *testing.T) {
	const spec = "{containers: [{name: c, image: i}]}"
	const template = "{metadata: {labels: {app: a}}, spec: " + spec + "}"
	tests := []struct{ name, text, from, pod string }{
		{"Pod", "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns, labels: {app: a}}\nspec: " + spec, "Pod ns/p", "p"},
		{"Pod without a name", "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-, namespace: ns, labels: {app: a}}\nspec: " + spec, "Pod ns/p-...", "p-xxxxx"},
		{"Deployment", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d, namespace: ns}\nspec: {template: " + template + "}", "Deployment ns/d", "d-xxxxxxxxxx-xxxxx"},
		{"DaemonSet", "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d, namespace: ns}\nspec: {template: " + template + "}", "DaemonSet ns/d", "d-xxxxx"},
		{"StatefulSet", "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s, namespace: ns}\nspec: {template: " + template + "}", "StatefulSet ns/s", "s-0"},
		{"ReplicaSet", "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: r, namespace: ns}\nspec: {template: " + template + "}", "ReplicaSet ns/r", "r-xxxxx"},
		{"ReplicationController", "apiVersion: v1\nkind: ReplicationController\nmetadata: {name: r, namespace: ns}\nspec: {template: " + template + "}", "ReplicationController ns/r", "r-xxxxx"},
		{"Job", "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: ns}\nspec: {template: " + template + "}", "Job ns/j", "j-xxxxx"},
		{"CronJob", "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: c, namespace: ns}\nspec: {jobTemplate: {spec: {template: " + template + "}}}", "CronJob ns/c", "c-00000000-xxxxx"},
		{"without apiVersion", "kind: Job\nmetadata: {name: j, namespace: ns}\nspec: {template: " + template + "}", "Job ns/j", "j-xxxxx"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := read(t, test.text)
			if len(f.Subjects) != 1 {
				t.Fatalf("%d containers", len(f.Subjects))
			}
			s := f.Subjects[0]
			if s.From != test.from || s.Container.Pod.Name != test.pod || s.Container.Pod.Namespace != "ns" || s.Container.Pod.Labels["app"] != "a" || s.Container.Name != "c" || s.Container.Image != "i" {
				t.Errorf("from %q, container %+v", s.From, s.Container)
			}
		})
	}
}

func TestDocumentsAndListsAreReadWhole(t *testing.T) {
	const one = "apiVersion: v1\nkind: Pod\nmetadata: {name: %s}\nspec: {containers: [{name: c}]}\n"
	p := func(name string) string { return fmt.Sprintf(one, name) }
	item := func(name string) string {
		return "- " + strings.ReplaceAll(strings.TrimSuffix(p(name), "\n"), "\n", "\n  ") + "\n"
	}
	tests := []struct {
		name, text string
		pods       []string
		passed     []string
	}{
		{"documents", "---\n" + p("a") + "---\n# nothing\n---\n" + p("b") + "--- # c\n" + p("c") + "...\n", []string{"a", "b", "c"}, nil},
		{"with carriage returns", strings.ReplaceAll(p("a")+"---\n"+p("b"), "\n", "\r\n"), []string{"a", "b"}, nil},
		{"what looks like a separator in a text", "kind: ConfigMap\napiVersion: v1\nmetadata: {name: m}\ndata:\n  x: |\n    ---\n    kind: Pod\n---\n" + p("a"), []string{"a"}, []string{"ConfigMap m: it makes no pods"}},
		{"a list", "apiVersion: v1\nkind: List\nitems:\n" + item("a") + item("b"), []string{"a", "b"}, nil},
		{"a list of pods whose items do not say so", `{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]}}]}`, []string{"a"}, nil},
		{"other objects of Kubernetes", p("a") + "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: r}}\n---\n{apiVersion: v1, kind: Service, metadata: {name: s, namespace: n}}", []string{"a"}, []string{"ClusterRole r: it makes no pods", "Service n/s: it makes no pods"}},
		{"custom resources without pods", p("a") + "---\n{apiVersion: monitoring.coreos.com/v1, kind: ServiceMonitor, metadata: {name: r}}", []string{"a"}, []string{"ServiceMonitor r: it makes no pods"}},
		{"pods of Windows nodes", p("a") + "---\n" + strings.Replace(p("b"), "{containers", "{nodeSelector: {kubernetes.io/os: windows}, containers", 1) + "---\n" + strings.Replace(p("c"), "{containers", "{os: {name: windows}, containers", 1), []string{"a"}, []string{"Pod default/b: its pods are of Windows nodes", "Pod default/c: its pods are of Windows nodes"}},
		{"JSON with escapes that YAML has not", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","annotations":{"x":"\ud83d\ude00\/"}},"spec":{"containers":[{"name":"c"}]}}`, []string{"a"}, nil},
		{"anchors", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers: &c\n  - name: c\n  initContainers: *c\n", []string{"a", "a"}, nil},
		{"merge keys", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  initContainers: [&x {name: i, image: y}]\n  containers:\n  - <<: *x\n    name: c\n", []string{"a", "a"}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := read(t, test.text)
			var pods []string
			for _, s := range f.Subjects {
				pods = append(pods, s.Container.Pod.Name)
			}
			if diff := cmp.Diff(test.pods, pods); diff != "" {
				t.Errorf("pods (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.passed, f.Passed); diff != "" {
				t.Errorf("passed over (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatCannotBeReadSaysWhy(t *testing.T) {
	hostPath := func(path string) string { return "[{name: v, hostPath: {path: " + path + "}}]" }
	tests := []struct{ name, text, want string }{
		{"nothing", "", "it is empty: want a manifest of a Pod, Deployment, "},
		{"only comments", "# a\n---\n# b\n", "it is empty"},
		{"text", "hello", "cannot unmarshal"},
		{"no kind", "{a: 1}", "it has no kind: want a manifest of a Pod"},
		{"not YAML", "a: [", "line 1: "},
		{"not YAML, the line of the file", "kind: ConfigMap\napiVersion: v1\n---\nb: 1\na: {\n", "line 5: "},
		{"a wrong type, the line of the file", "# 1\n---\napiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: c\n    securityContext: {privileged: maybe}\n", "line 8: Pod default/?: cannot unmarshal !!str `maybe` into bool"},
		{"a key twice", "apiVersion: v1\nkind: Pod\nkind: Job\n", `line 3: the key "kind" is there twice`},
		{"nothing that makes pods", "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n", "nothing in it makes pods of Linux nodes (Service s: it makes no pods): want a manifest of a Pod"},
		{"a misspelled kind", "apiVersion: apps/v1\nkind: Deploymnt\nmetadata: {name: d}\n", `Deploymnt d: no such kind is known in the API group "apps": want a manifest of a Pod, Deployment, DaemonSet, StatefulSet, Job, CronJob, ReplicaSet`},
		{"a kind of another group", "apiVersion: apps/v1\nkind: Pod\nmetadata: {name: d}\nspec: {}\n", `Pod default/d: no such kind is known in the API group "apps"`},
		{"a custom resource with pods", "apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: r}\nspec:\n  template:\n    spec:\n      containers: [{name: c, image: i}]\n", `Rollout r is of the API group "argoproj.io", and has the template of a pod: its controller makes the pod`},
		{"no template", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {}\n", "Deployment default/d: it has no spec.template"},
		{"no containers", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {}\n", "Pod default/p: it has no containers"},
		{"Windows", "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {os: {name: windows}, containers: [{name: c}]}\n", "nothing in it makes pods of Linux nodes (Pod default/p: its pods are of Windows nodes)"},
		{"no such volume", pod("[{name: w, mountPath: /a}]", hostPath("/a")), `line 9: Pod ns/p: container "c": volumeMounts[0]: no volume is named "w"`},
		{"the line of what is wrong in it", "---\n" + pod("[]", "[]") + "---\n" + pod("[]", "\n  - {name: v, emptyDir: {}}\n  - {name: v, emptyDir: {}}"), `line 24: Pod ns/p: two volumes are named "v"`},
		{"and in a list", "kind: List\napiVersion: v1\nitems:\n- kind: Pod\n  spec: {}\n", "line 4: item 0 of the list: Pod default/?: it has no containers"},
		{"and in JSON", "\n{\"kind\": \"Pod\",\n\"metadata\": {\"name\": \"p\"},\n\"spec\": {\"containers\": [\n{\"name\": \"c\",\n\"volumeMounts\": [\n{\"name\": \"w\"}]}]}}", `line 7: Pod default/p: container "c": volumeMounts[0]: no volume is named "w"`},
		{"a key twice in JSON", "{\"kind\": \"Pod\",\n\"kind\": \"Job\"}", `line 2: the key "kind" is there twice`},
		{"a document that Kubernetes leaves out", pod("[]", "[]") + "...\n" + pod("[]", "[]"), "line 11: did not find expected <document start>"},
		{"a document that begins without a line of its own", "kind: Pod\n...\n%YAML 1.1\n--- {kind: Pod}\n", "line "},
		{"a list for an object", "kind: Pod\nspec: [1]\n", "line 2: Pod default/?: cannot unmarshal !!seq into an object"},
		{"an object for a list", "kind: Pod\nspec: {containers: {}}\n", "line 2: Pod default/?: cannot unmarshal !!map into a list"},
		{"a text for the security context", "kind: Pod\nspec:\n  containers:\n  - securityContext: x\n", "line 4: Pod default/?: cannot unmarshal !!str `x` into an object"},
		{"no UTF-8", "kind: Pod\n# \xe9\n", "line 1: "},
		{"binary", "\x00\x01\x02", "line 1: control characters are not allowed"},
		{"no path", pod("[{name: v}]", hostPath("/a")), "has no mountPath"},
		{"a relative hostPath", pod("[{name: v, mountPath: /a}]", hostPath("a/b")), `hostPath "a/b" is no absolute path`},
		{"a volume of two kinds", pod("[{name: v, mountPath: /a}]", "[{name: v, emptyDir: {}, hostPath: {path: /}}]"), "has several kinds"},
		{"two volumes of one name", pod("[]", "[{name: v, emptyDir: {}}, {name: v, emptyDir: {}}]"), `two volumes are named "v"`},
		{"another word for propagation", pod("[{name: v, mountPath: /a, mountPropagation: rslave}]", hostPath("/a")), `mountPropagation "rslave": want None, HostToContainer or Bidirectional`},
		{"Bidirectional and not privileged", strings.Replace(pod("[{name: v, mountPath: /a, mountPropagation: Bidirectional}]", hostPath("/a")), "privileged: true", "privileged: false", 1), "takes Bidirectional of privileged containers only"},
		{"rro with propagation", pod("[{name: v, mountPath: /a, readOnly: true, recursiveReadOnly: Enabled, mountPropagation: HostToContainer}]", hostPath("/a")), "recursiveReadOnly takes readOnly, and mountPropagation None"},
		{"another word for rro", pod("[{name: v, mountPath: /a, readOnly: true, recursiveReadOnly: Yes}]", hostPath("/a")), "want Disabled, IfPossible or Enabled"},
		{"a sub-path out of the volume", pod("[{name: v, mountPath: /a, subPath: ../b}]", hostPath("/a")), `sub-path "../b" is absolute or has ".."`},
		{"crictl without a specification", `{"status": {"id": "a"}, "info": {}}`, "no info.runtimeSpec in it"},
		{"a list of something", `[{"a": 1}]`, "a list that is not what crictl inspect prints"},
		{"a YAML list of something", "- a: 1\n", "a list that is not what crictl inspect prints"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, err := Read([]byte(test.text), Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("error of several lines: %q", err)
			}
			if len(f.Subjects) > 0 {
				t.Errorf("containers with an error: %+v", f.Subjects)
			}
		})
	}
}

func TestBombsAreRefusedBeforeTheyGrow(t *testing.T) {
	laughs := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		laughs += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	tests := []struct{ name, text string }{
		{"a billion laughs", laughs},
		{"items that are aliases", "big: &b [" + strings.Repeat("x,", 2000) + "]\nkind: List\nitems: [" + strings.Repeat("*b,", 2000) + "]\n"},
		{"an anchor in itself", "a: &a [*a]\n"},
		{"deep flow", "kind: Pod\nspec: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000)},
		{"deep JSON", `{"kind":"Pod","spec":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}"},
		{"deep dashes", "kind: Pod\nspec:\n " + strings.Repeat("- ", 5000) + "x\n"},
		{"many items", "kind: Pod\nspec: [" + strings.Repeat("a,", maxItems) + "]"},
		{"a large document", "kind: Pod\nspec: " + strings.Repeat("a", maxYAML)},
		{"a large file", strings.Repeat("# comment\n", MaxSize/10+1)},
		{"many documents of a container each", strings.Repeat("---\n{kind: Pod, metadata: {name: p}, spec: {containers: [{name: c}]}}\n", maxSubjects+1)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if f, err := Read([]byte(test.text), Options{}); err == nil {
				t.Errorf("%d containers and no error", len(f.Subjects))
			} else if len(err.Error()) > 400 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
		})
	}
}
