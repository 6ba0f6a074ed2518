package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/settings"
	"github.com/mountward/mountward/pkg/volumes"
)

const head = "version = 1\nmode = \"enforce\"\ndefault = \"allow\"\n"

func rule(name, action string, keys ...string) string {
	return fmt.Sprintf("[[rule]]\nname = %q\naction = %q\n%s\n", name, action, strings.Join(keys, "\n"))
}

func parsed(t *testing.T, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Parse(policy.File{Name: "p.toml", Data: []byte(text)})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return p
}

// elsewhere explains what is in a file on a machine that is not the node.
func elsewhere(t *testing.T, policy, file string, o explainOptions) show.Explanation {
	t.Helper()
	j := judgeOf(t.Context(), parsed(t, policy), settings.Default(), nil)
	f, err := o.subjects(source{name: "f", data: []byte(file)}, j.env.Vars)
	if err != nil {
		t.Fatalf("%v in\n%s", err, file)
	}
	var x show.Explanation
	for _, s := range f.Subjects {
		x.Containers = append(x.Containers, j.explain(t.Context(), s))
	}
	return x
}

func exitCode(err error) int {
	var e *exit
	if errors.As(err, &e) {
		return e.code
	}
	if err != nil {
		return -1
	}
	return ExitYes
}

func onePod(mounts, volumes string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns, uid: u-1, labels: {app: a}}\nspec:\n  containers:\n  - {name: c, securityContext: {privileged: true}, volumeMounts: [" +
		mounts + "]}\n  volumes: [" + volumes + "]\n"
}

// TestTheVerdictIsUnknownWhereAnotherFactWouldChangeIt, and only there.
func TestTheVerdictIsUnknownWhereAnotherFactWouldChangeIt(t *testing.T) {
	const (
		host  = "{name: v, hostPath: {path: /var/lib/kubelet/pods}}"
		claim = "{name: v, persistentVolumeClaim: {claimName: d}}"
		at    = "{name: v, mountPath: /a}"
		spec  = `{"ociVersion":"1.2.0","process":{"capabilities":{"bounding":[]}},"mounts":[{"destination":"/a","type":"bind","source":"/srv","options":["rbind","rprivate"]}],` +
			`"annotations":{"io.kubernetes.cri.container-type":"container","io.kubernetes.cri.container-name":"c","io.kubernetes.cri.sandbox-name":"p","io.kubernetes.cri.sandbox-namespace":"ns"}}`
	)
	csi := rule("csi", "deny", `match.source = ["${kubelet_root}/pods/*/volumes/kubernetes.io~csi/**"]`)
	follow := rule("follow", "set", `match.source = ["${kubelet_root}/pods"]`, `propagation = "rslave"`)
	labels := rule("labels", "deny", `match.pod_labels = { app = "x" }`)
	tests := []struct {
		name, policy, file string
		want               string // of the mount at /a
		doubt              string
		code               int
	}{
		{"a hostPath", head, onePod(at, host), "allow", "", ExitYes},
		{"set, and it is left to the host whether it can be", head + follow, onePod(at, host), "set", "", ExitYes},
		{"set, and refused where the host cannot", head + follow + `on_unmet = "deny"`, onePod(at, host), "unknown", "refused where its host mount is not shared", ExitCannotTell},
		{"denied", head + rule("d", "deny", "match = {}"), onePod(at, host), "deny", "", ExitNo},
		{"denied by default", strings.Replace(head, "allow", "deny", 1), onePod(at, host), "deny", "", ExitNo},
		{"a hazard is denied", head + "[hazards]\nMW101 = \"deny\"\n", onePod("{name: v, mountPath: /a, mountPropagation: Bidirectional}, {name: v, mountPath: /a/b}", host), "allow", "", ExitNo},
		{"a claim, whatever it is bound to", head + rule("d", "deny", "match.destination = [\"/a\"]"), onePod(at, claim), "deny", "", ExitNo},
		{"a claim, if it is bound to CSI", head + csi, onePod(at, claim), "unknown", "what volume the claim d is bound to", ExitCannotTell},
		{"a claim that another mount is denied beside", head + csi + rule("d", "deny", "match.destination = [\"/b\"]"), onePod(at+", {name: w, mountPath: /b}", claim+", {name: w, emptyDir: {}}"), "unknown", "what volume", ExitNo},
		{"rro, if possible", head + rule("up", "set", `match.destination = ["/a"]`, `propagation = "rslave"`), onePod("{name: v, mountPath: /a, readOnly: true, recursiveReadOnly: IfPossible}", host), "set", "", ExitYes},
		{"labels of a manifest are known", head + labels, onePod(at, host), "allow", "", ExitYes},
		{"labels of a specification are not", head + labels, spec, "unknown", `rule "labels" asks for pod_labels`, ExitCannotTell},
		{"labels that make no difference", head + rule("labels", "audit", `match.pod_labels = { app = "x" }`), spec, "allow", "", ExitYes},
		{"labels of a rule that fails by something else", head + rule("labels", "deny", `match.namespace = ["other"]`, `match.pod_labels = { app = "x" }`), spec, "allow", "", ExitYes},
		{"labels that are excepted", head + rule("labels", "deny", "match.destination = [\"/a\"]", `except.pod_labels = { app = "x" }`), spec, "unknown", `asks for pod_labels`, ExitCannotTell},
		{"the name in a specification", head + rule("d", "deny", `match.container = ["c"]`), spec, "deny", "", ExitNo},
		{"privilege in a specification", head + rule("d", "deny", `match.privileged = true`), spec, "allow", "", ExitYes},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			x := elsewhere(t, test.policy, test.file, explainOptions{})
			for _, m := range x.Containers[0].Mounts {
				if m.Mount.Destination != "/a" {
					continue
				}
				doubts := strings.Join(m.Doubts, "; ")
				if m.Verdict != test.want || !strings.Contains(doubts, test.doubt) || (test.doubt == "") != (doubts == "") {
					t.Errorf("verdict %q, doubts %q; want %q, %q", m.Verdict, doubts, test.want, test.doubt)
				}
			}
			if got := exitCode(code(x)); got != test.code {
				t.Errorf("exit code %d, want %d", got, test.code)
			}
		})
	}
}

// TestTheTraceEndsAtTheRuleThatDecided and counts what was not tried.
func TestTheTraceEndsAtTheRuleThatDecided(t *testing.T) {
	text := head + rule("a", "audit", "match = {}") + rule("b", "deny", `match.destination = ["/b"]`) + rule("c", "deny", "match = {}") + rule("d", "allow", "match = {}")
	x := elsewhere(t, text, onePod("{name: v, mountPath: /a}", "{name: v, emptyDir: {}}"), explainOptions{})
	for _, m := range x.Containers[0].Mounts {
		if !m.Decision.Judged {
			if m.Untried != 0 || len(m.Decision.Trace) > 0 {
				t.Errorf("%s is no bind, and was judged: %+v", m.Mount.Destination, m.Decision)
			}
			continue
		}
		trace := m.Decision.Trace
		if len(trace) != 3 || trace[2].Rule != m.Decision.Rule || m.Decision.Rule != "c" || m.Untried != 1 {
			t.Errorf("%s: decided by %q after %+v, %d not tried", m.Mount.Destination, m.Decision.Rule, trace, m.Untried)
		}
	}
}

func TestTheSpecificationAfterIsInTheRuntimesOrder(t *testing.T) {
	text := head + rule("up", "set", `match.destination = ["/z"]`, `propagation = "rslave"`)
	x := elsewhere(t, text, onePod("{name: v, mountPath: /z}, {name: v, mountPath: /a}", "{name: v, hostPath: {path: /srv}}"), explainOptions{})
	e := x.Containers[0]
	var order []string
	for _, m := range e.After.Mounts {
		if m.Source == "/srv" {
			order = append(order, m.Destination+" "+strings.Join(m.Options, ","))
		}
	}
	if diff := cmp.Diff([]string{"/a rbind,rprivate,rw", "/z rbind,rslave,rw"}, order); diff != "" || e.After.RootfsPropagation != "rslave" || e.Before.RootfsPropagation != "" {
		t.Errorf("root %q (-want +got):\n%s", e.After.RootfsPropagation, diff)
	}
}

// TestAStaticPodIsNotRefused: what it gets is what it asked for.
func TestAStaticPodIsNotRefused(t *testing.T) {
	for static, refusal := range map[bool]bool{true: false, false: true} {
		x := elsewhere(t, head+rule("d", "deny", `match.destination = ["/a"]`), onePod("{name: v, mountPath: /a}", "{name: v, emptyDir: {}}"), explainOptions{static: static})
		want := map[bool]string{true: show.VerdictDeny, false: show.VerdictAllow}[refusal]
		if e := x.Containers[0]; (e.Refusal != "") != refusal || e.Verdict != want {
			t.Errorf("static %t: refusal %q, verdict %s", static, e.Refusal, e.Verdict)
		}
	}
}

func TestAContainerIsFoundByTheBeginningOfItsID(t *testing.T) {
	member := func(id, name, pod string) volumes.Member {
		return volumes.Member{Container: facts.Container{ID: id, Name: name, Pod: facts.Pod{Name: pod}}}
	}
	pause := member("cafe99", "", "web")
	pause.Sandbox = true
	s := volumes.Survey{Members: []volumes.Member{member("cafe01", "app", "web"), member("cafe02", "side", "web"), member("beef01", "cafe01x", "db"), pause}}
	tests := []struct {
		text string
		want []string
		code int
	}{
		{"cafe01", []string{"cafe01"}, ExitYes},
		{"beef", []string{"beef01"}, ExitYes},
		{"cafe", nil, ExitUsage},
		{"web", []string{"cafe01", "cafe02"}, ExitYes},
		{"side", []string{"cafe02"}, ExitYes},
		{"nobody", nil, ExitYes},
	}
	for _, test := range tests {
		members, err := named(s, test.text)
		var ids []string
		for _, m := range members {
			ids = append(ids, m.Container.ID)
		}
		if diff := cmp.Diff(test.want, ids); diff != "" || exitCode(err) != test.code {
			t.Errorf("%s: %v (-want +got):\n%s", test.text, err, diff)
		}
	}
}

// TestWhatWasAskedIsExplained: of a container of the node, not what mountward made
// of it.
func TestWhatWasAskedIsExplained(t *testing.T) {
	asked := facts.Mount{Destination: "/a", Source: "/srv", Type: "bind", Options: []string{"rbind", "rshared"}, Host: &facts.HostMount{MountPoint: "/gone"}, HostWhy: "old", Actual: facts.Identity{Root: "/x"}}
	m := volumes.Member{
		Known: true, Container: facts.Container{ID: "cafe", Mounts: []facts.Mount{{Destination: "/a", Options: []string{"rbind", "rslave"}}}, Pod: facts.Pod{Labels: map[string]string{"app": "a"}}},
		Outcomes: []facts.Outcome{{Mount: asked, Asked: facts.Shared, Decided: facts.Slave}},
	}
	s := subjectOf(m)
	want := facts.Mount{Destination: "/a", Source: "/srv", Type: "bind", Options: []string{"rbind", "rshared"}}
	if diff := cmp.Diff([]facts.Mount{want}, s.Container.Mounts); diff != "" || s.RootfsPropagation != "rshared" || len(s.Unknown) > 0 {
		t.Errorf("%+v (-want +got):\n%s", s, diff)
	}
	m.Known = false
	if s := subjectOf(m); len(s.Unknown) != 1 || !strings.Contains(s.Unknown[0].Why, "did not see its creation") || len(s.Missing) < 4 {
		t.Errorf("%+v", s)
	}
}

// TestTheVolumeIsKnownAsFarAsTheManifestShowsIt: the path shows most, the manifest
// the driver and what a sub-path is of; of a claim nothing is known.
func TestTheVolumeIsKnownAsFarAsTheManifestShowsIt(t *testing.T) {
	const at = "{name: v, mountPath: /a}"
	deny := func(match string) string { return head + rule("d", "deny", `match.destination = ["/a"]`, match) }
	inline := "{name: v, csi: {driver: d.example}}"
	for _, test := range []struct {
		name, policy, volume, mount, want string
	}{
		{"the kind", deny(`match.volume.kind = ["emptyDir"]`), "{name: v, emptyDir: {}}", at, "deny"},
		{"another kind", deny(`match.volume.kind = ["secret"]`), "{name: v, emptyDir: {}}", at, "allow"},
		{"a hostPath has no name", deny(`match.volume = { kind = ["hostPath"], name = ["*"] }`), "{name: v, hostPath: {path: /srv}}", at, "allow"},
		{"an image", deny(`match.volume.kind = ["image"]`), "{name: v, image: {reference: r}}", at, "deny"},
		{"the driver", deny(`match.volume.driver = ["d.example"]`), inline, at, "deny"},
		{"another driver", deny(`match.volume.driver = ["e.example"]`), inline, at, "allow"},
		{"what a sub-path is of", deny(`match.volume.kind = ["csi"]`), inline, "{name: v, mountPath: /a, subPath: s}", "deny"},
		{"and is not of", deny(`match.volume.kind = ["hostPath"]`), inline, "{name: v, mountPath: /a, subPath: s}", "allow"},
		{"a sub-path of a hostPath has no driver", deny(`match.volume.driver = ["*"]`), "{name: v, hostPath: {path: /srv}}", "{name: v, mountPath: /a, subPath: s}", "allow"},
		{"of a claim not the kind", deny(`match.volume.kind = ["iscsi"]`), "{name: v, persistentVolumeClaim: {claimName: d}}", at, "unknown"},
		{"nor the name", deny(`match.volume.name = ["pvc-1"]`), "{name: v, persistentVolumeClaim: {claimName: d}}", at, "unknown"},
		{"nor by a sub-path", deny(`match.volume.driver = ["d.example"]`), "{name: v, persistentVolumeClaim: {claimName: d}}", "{name: v, mountPath: /a, subPath: s}", "unknown"},
		{"what is kubelet's and runtime's own", head + rule("d", "deny", `match.volume.kind = ["none"]`, `match.destination = ["/etc/*", "/dev/shm"]`), "{name: v, emptyDir: {}}", at, "deny"},
	} {
		x := elsewhere(t, test.policy, onePod(test.mount, test.volume), explainOptions{})
		for _, m := range x.Containers[0].Mounts {
			own := test.name == "what is kubelet's and runtime's own" && (m.Mount.Destination == "/etc/hosts" || m.Mount.Destination == "/dev/shm")
			if (own || m.Mount.Destination == "/a" && !strings.HasPrefix(test.name, "what is kubelet's")) && m.Verdict != test.want {
				t.Errorf("%s: %s: verdict %q, doubts %q; want %q", test.name, m.Mount.Destination, m.Verdict, m.Doubts, test.want)
			}
		}
	}
}

// TestARuleInAuditModeLeavesNoDoubt: it decides nothing, whatever is not known.
func TestARuleInAuditModeLeavesNoDoubt(t *testing.T) {
	claim := onePod("{name: v, mountPath: /a}", "{name: v, persistentVolumeClaim: {claimName: d}}")
	for mode, want := range map[string]string{`mode = "audit"`: show.VerdictAllow, `reason = "r"`: show.VerdictUnknown} {
		x := elsewhere(t, head+rule("d", "deny", `match.volume.kind = ["csi"]`, `match.destination = ["/a"]`, mode), claim, explainOptions{})
		for _, m := range x.Containers[0].Mounts {
			if m.Mount.Destination == "/a" && (m.Verdict != want || (len(m.Shadow) > 0) != (want == show.VerdictAllow)) {
				t.Errorf("%s: verdict %q, shadow %+v, doubts %q", mode, m.Verdict, m.Shadow, m.Doubts)
			}
		}
	}
}

// TestASubPathIsDecidedAsWhatItLeadsTo, where that is known; else a rule that it could
// fall under leaves a doubt.
func TestASubPathIsDecidedAsWhatItLeadsTo(t *testing.T) {
	keys := rule("keys", "deny", `match.source = ["/etc/keys/**"]`)
	at := func(sub string) string { return "{name: v, mountPath: /a, " + sub + "}" }
	host := func(p string) string { return "{name: v, hostPath: {path: " + p + "}}" }
	for _, test := range []struct {
		name, policy, mount, volume, want string
	}{
		{"below what is denied", head + keys, at("subPath: etc/keys/a"), host("/"), "deny"},
		{"beside it", head + keys, at("subPath: etc/keyring"), host("/"), "allow"},
		{"above it", head + keys, at("subPath: etc"), host("/"), "allow"},
		{"of another volume", head + keys, at("subPath: etc/keys"), host("/srv"), "allow"},
		{"an expression without variables", head + keys, at("subPathExpr: etc/keys"), host("/"), "deny"},
		{"not known, and could be", head + keys, at("subPathExpr: $(X)"), host("/"), "unknown"},
		{"not known below what is denied", head + keys, at("subPathExpr: $(X)"), host("/etc/keys/a"), "unknown"},
		{"not known, and elsewhere", head + keys, at("subPathExpr: $(X)"), host("/srv"), "allow"},
		{"not known below another directory", head + keys, at("subPathExpr: var/$(X)"), host("/"), "allow"},
		{"not known, and decided before", head + rule("all", "deny", "match = {}") + keys, at("subPathExpr: $(X)"), host("/"), "deny"},
		{"not known, and perhaps excepted", head + rule("d", "deny", "match = {}", `except.source = ["/etc/keys/**"]`), at("subPathExpr: $(X)"), host("/"), "unknown"},
		{"not known, and another key fails", head + rule("keys", "deny", `match.source = ["/etc/keys/**"]`, `match.destination = ["/b"]`), at("subPathExpr: $(X)"), host("/"), "allow"},
		{"not known, a rule in audit mode", head + rule("keys", "deny", `match.source = ["/etc/keys/**"]`, `mode = "audit"`), at("subPathExpr: $(X)"), host("/"), "allow"},
		{"allowed by what it leads to", strings.Replace(head, "allow", "deny", 1) + rule("a", "allow", `match.source = ["/srv/**"]`), at("subPath: x"), host("/srv"), "allow"},
		{"allowed by the kubelet's name", strings.Replace(head, "allow", "deny", 1) + rule("a", "allow", `match.source = ["${kubelet_root}/**"]`), at("subPath: x"), host("/srv"), "allow"},
		{"of an emptyDir on disk", head + rule("d", "deny", `match.source = ["${kubelet_root}/pods/*/volumes/kubernetes.io~empty-dir/**"]`), at("subPath: x"), "{name: v, emptyDir: {}}", "deny"},
		{"of an emptyDir in memory", head + rule("d", "deny", `match.source = ["${kubelet_root}/pods/*/volumes/kubernetes.io~empty-dir/**"]`), at("subPath: x"), "{name: v, emptyDir: {medium: Memory}}", "allow"},
	} {
		x := elsewhere(t, test.policy, onePod(test.mount, test.volume), explainOptions{})
		for _, m := range x.Containers[0].Mounts {
			if m.Mount.Destination == "/a" && m.Verdict != test.want {
				t.Errorf("%s: verdict %q, doubts %q; want %q", test.name, m.Verdict, m.Doubts, test.want)
			}
		}
	}
}

// TestAnImageIsJudgedByTheNameOfTheRuntime, and where that cannot be told, a rule that
// could be about it leaves a doubt.
func TestAnImageIsJudgedByTheNameOfTheRuntime(t *testing.T) {
	pinned := "busybox@sha256:" + strings.Repeat("0a", 32)
	for _, test := range []struct{ image, globs, want string }{
		{"busybox", `"docker.io/library/busybox:*"`, "deny"},
		{"busybox:1.36", `"docker.io/library/busybox:*"`, "deny"},
		{"index.docker.io/library/busybox:1", `"docker.io/library/busybox:1"`, "deny"},
		{"busybox", `"busybox:*"`, "allow"},
		{pinned, `"docker.io/library/busybox*"`, "deny"},
		{pinned, `"*"`, "deny"},
		{pinned, `"docker.io/library/busybox:*"`, "unknown"},
		{pinned, `"docker.io/library/busybox:1.36"`, "unknown"},
		{pinned, `"docker.io/library/busybox@*"`, "unknown"},
		{pinned, `"docker.io/library/busybox:*", "docker.io/library/busybox@*"`, "deny"},
		{pinned, `"docker.io/library/nginx:*"`, "allow"},
		{"Not/An Image", `"docker.io/*"`, "unknown"},
	} {
		text := strings.Replace(onePod("{name: v, mountPath: /a}", "{name: v, emptyDir: {}}"), "{name: c,", `{name: c, image: "`+test.image+`",`, 1)
		x := elsewhere(t, head+rule("d", "deny", "match.image = ["+test.globs+"]"), text, explainOptions{})
		if got := x.Containers[0].Verdict; got != test.want {
			t.Errorf("%s by %s: %s, want %s", test.image, test.globs, got, test.want)
		}
	}
}
