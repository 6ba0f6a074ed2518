package vap

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

const nobodyShares = `default = "allow"
[[rule]]
name = "nobody"
reason = "ask the storage team"
match.propagation = ["shared"]
action = "deny"
`

func sharing(kind, spec string) shape {
	return shape{kind: kind, privileged: true, spec: spec, mounts: []mount{{"/data", "/d", shared, ""}}}
}

func TestARefusalNamesMountsRuleAndReason(t *testing.T) {
	server := startAPIServer(t, export(t, parse(t, head+nobodyShares)).YAML())
	s := sharing("Pod", "")
	s.mounts = append(s.mounts, mount{"/x", "/e", shared, ""}, mount{"/x", "/f", "", ""})
	got := server.ask(t, request{object: object(t, s.yaml())})
	want := `mountward refuses mount /d (shared) of container app, /e (shared) of container app by rule nobody (policy.toml:4): ask the storage team`
	if got.err == nil || !strings.Contains(got.err.Error(), want) {
		t.Errorf("%v, want %s", got.err, want)
	}
}

func TestAPolicyInAuditModeWarns(t *testing.T) {
	text := strings.Replace(head, "enforce", "audit", 1) + nobodyShares
	server := startAPIServer(t, export(t, parse(t, text)).YAML())
	got := server.ask(t, request{object: object(t, sharing("Deployment", "").yaml())})
	if got.err != nil || len(got.warnings) != 1 || !strings.Contains(got.warnings[0], "mountward would refuse mount /d (shared)") {
		t.Errorf("%v %q", got.err, got.warnings)
	}
}

// TestWhatIsThereIsNotHeldUp: only what brings a mount into the cluster is asked.
func TestWhatIsThereIsNotHeldUp(t *testing.T) {
	server := startAPIServer(t, export(t, parse(t, head+nobodyShares)).YAML())
	private := shape{mounts: []mount{{"/data", "/d", "", ""}}}
	with := func(kind, text, from, to string) string {
		if !strings.Contains(text, from) {
			t.Fatalf("%s: no %q in\n%s", kind, from, text)
		}
		return strings.Replace(text, from, to, 1)
	}
	for _, kind := range []string{"Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "Job", "CronJob"} {
		bad, good := sharing(kind, "").yaml(), shape{kind: kind, mounts: private.mounts}.yaml()
		other := with(kind, bad, "metadata:\n", "metadata:\n  finalizers: [a.b/c]\n")
		for _, test := range []struct {
			name, old, new string
			refused        bool
		}{
			{"a finalizer goes", other, bad, false},
			{"the template becomes bad", good, bad, true},
			{"a bad template changes", bad, with(kind, bad, "busybox", "busybox:2"), true},
			{"the template becomes good", bad, good, false},
		} {
			if got := server.ask(t, request{object: object(t, test.new), old: object(t, test.old)}); got.refused() != test.refused {
				t.Errorf("%s: %s: %v", kind, test.name, got.err)
			}
		}
	}
	pod := sharing("Pod", "").yaml()
	other := with("Pod", pod, "metadata:\n", "metadata:\n  finalizers: [a.b/c]\n")
	if got := server.ask(t, request{object: object(t, pod), old: object(t, other)}); got.refused() {
		t.Errorf("a pod's finalizer goes: %v", got.err)
	}
}

func TestAnEphemeralContainerIsJudgedAlone(t *testing.T) {
	server := startAPIServer(t, export(t, parse(t, head+nobodyShares)).YAML())
	debugger := func(pod map[string]any, name, propagation string) map[string]any {
		pod = runtime.DeepCopyJSON(pod)
		spec := pod["spec"].(map[string]any)
		all, _ := spec["ephemeralContainers"].([]any)
		spec["ephemeralContainers"] = append(slices.Clone(all), map[string]any{
			"name": name, "volumeMounts": []any{map[string]any{"name": "v0", "mountPath": "/x", "mountPropagation": propagation}},
		})
		return pod
	}
	was := object(t, sharing("Pod", "").yaml()) // from before the policy
	harmless := debugger(was, "a", "None")
	harmful := debugger(was, "b", shared)
	for _, test := range []struct {
		name     string
		old, new map[string]any
		refused  bool
	}{
		{"a harmless one", was, harmless, false},
		{"a harmful one", was, harmful, true},
		{"a harmless one beside a harmful one", harmful, debugger(harmful, "c", "None"), false},
	} {
		got := server.ask(t, request{object: test.new, old: test.old, subresource: "ephemeralcontainers"})
		if got.refused() != test.refused {
			t.Errorf("%s: %v", test.name, got.err)
		}
	}
}

func TestMirrorsAndWindowsAreNotJudged(t *testing.T) {
	server := startAPIServer(t, export(t, parse(t, head+nobodyShares)).YAML())
	mirror := sharing("Pod", "")
	mirror.annotations = `{kubernetes.io/config.mirror: "0", kubernetes.io/config.source: file}`
	for name, s := range map[string]shape{
		"mirror":        mirror,
		"windows":       sharing("Pod", "os: {name: windows}\n"),
		"windows nodes": sharing("CronJob", "nodeSelector: {kubernetes.io/os: windows}\n"),
	} {
		if got := server.ask(t, request{object: object(t, s.yaml())}); got.refused() {
			t.Errorf("%s: %v", name, got.err)
		}
	}
	if got := server.ask(t, request{object: object(t, sharing("CronJob", "nodeSelector: {kubernetes.io/os: linux}\n").yaml())}); !got.refused() {
		t.Error("a pod of linux is not judged")
	}
}

// TestHostileTextsStayTexts: names and paths are what they are in YAML, in CEL and
// in the message.
func TestHostileTextsStayTexts(t *testing.T) {
	name := `q"uote' \ back\nslash ${x} é 日 \u0085\u2028 #: {{ }}`
	text := head + `default = "allow"
[[rule]]
name = "` + strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(name, `\ `, `\\ `), `\n`, `\\n`), `"`, `\"`) + `"
reason = "a\"b' + string(object) + '\\"
match.source = ["/a\"b'/\\\\c/é日*"]
match.pod_labels = { "x\"]+[\"y" = "*", }
action = "deny"
[[rule]]
name = "other"
match.source = ["/a\"b'\\\\/é"]
action = "deny"
`
	p := parse(t, text)
	server := startAPIServer(t, export(t, p).YAML())
	s := shape{mounts: []mount{{`/a"b'/\c/é日x`, "/d\u2028é\"\\", "", ""}}}
	pod := object(t, s.yaml())
	pod["metadata"].(map[string]any)["labels"] = map[string]any{`x"]+["y`: "z"}
	got := server.ask(t, request{object: pod})
	want := "by rule " + p.Rules[0].Name + " (policy.toml:4): " + p.Rules[0].Reason
	if got.err == nil || !strings.Contains(got.err.Error(), want) || !strings.Contains(got.err.Error(), "/d\u2028é\"\\") {
		t.Errorf("%v, want %s", got.err, want)
	}
	pod["spec"].(map[string]any)["volumes"].([]any)[0].(map[string]any)["hostPath"] = map[string]any{"path": `/a"b'/c/é日x`}
	if got := server.ask(t, request{object: pod}); got.refused() {
		t.Errorf("another path: %v", got.err)
	}
}
