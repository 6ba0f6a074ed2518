package vap

import (
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/vap"
)

// maker makes policies and manifests of the same few words, so that they meet.
type maker struct{ *rand.Rand }

func (m maker) one(words ...string) string { return words[m.Intn(len(words))] }

func (m maker) some(words ...string) string {
	all := []string{`"` + m.one(words...) + `"`}
	for m.Intn(3) == 0 {
		all = append(all, `"`+m.one(words...)+`"`)
	}
	return "[" + strings.Join(all, ", ") + "]"
}

// key is a key of match or except that the language has. plain leaves out what
// manifests do not show.
func (m maker) key(plain bool) (key, value string) {
	for {
		key, value = m.anyKey(plain)
		if _, err := policy.Parse(policy.File{Data: []byte(head + "default = \"deny\"\n[[rule]]\nname = \"r\"\naction = \"deny\"\nmatch." + key + " = " + value)}); err == nil {
			return key, value
		}
	}
}

func (m maker) anyKey(plain bool) (key, value string) {
	n := 13
	if !plain {
		n = 17
	}
	switch m.Intn(n) {
	case 0, 1:
		return "propagation", m.some("private", "slave", "shared", "unset")
	case 2, 3:
		return "source", m.some("/", "/**", "/a", "/a/**", "/a/*", "/*/b", "/a/{b,c}/**", "/[ab]", "${kubelet_root}/**", "/a*/**")
	case 4:
		return "destination", m.some("/", "/d/**", "/d", "/d/*", "/?")
	case 5:
		return "namespace", m.some("default", "kube-*", "{default,other}")
	case 6:
		return "container", m.some("app", "a*", "?[!p]*")
	case 7:
		return "privileged", m.one("true", "false")
	case 8:
		return "pod_labels", m.one(`{ app = "x" }`, `{ app = "*", team = ["a", "b*"] }`)
	case 9:
		return "readonly", m.one("true", "false")
	case 10:
		return "pod_annotations", m.one(`{ why = "*" }`, `{ why = ["a/b", "?c"] }`)
	case 11:
		return "user_namespace", m.one("true", "false")
	case 12:
		return "volume.kind", m.some("hostPath", "emptyDir", "secret", "csi", "none")
	case 13:
		return "role", `["csi-node"]`
	case 14:
		return "hazard", m.some("MW101", "MW105", "MW107", "MW111")
	case 15:
		return "pod", m.some("thing", "thing-*", "other")
	default:
		return "static_pod", m.one("true", "false")
	}
}

func (m maker) policy(plain bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "version = 1\nmode = \"enforce\"\ndefault = %q\n", m.one("allow", "deny"))
	for i := range 1 + m.Intn(5) {
		action := m.one("allow", "set", "deny", "deny", "deny", "audit")
		fmt.Fprintf(&b, "[[rule]]\nname = \"r%d\"\naction = %q\n", i, action)
		if action == "set" {
			b.WriteString("propagation = \"rslave\"\n")
		}
		for _, table := range []string{"match", "except"} {
			n := m.Intn(3)
			if table == "match" && n == 0 {
				b.WriteString("match = {}\n")
			}
			seen := map[string]bool{}
			for range n {
				if key, value := m.key(plain); !seen[key] {
					seen[key] = true
					fmt.Fprintf(&b, "%s.%s = %s\n", table, key, value)
				}
			}
		}
	}
	return b.String()
}

func (m maker) shape(plain bool) shape {
	s := shape{
		kind: m.one("Pod", "Pod", "init", "Deployment", "Job", "CronJob"), namespace: m.one("default", "kube-system"), container: m.one("app", "agent"),
		labels: m.one("", "{app: x}", "{app: other, team: b1}"), annotations: m.one("", "{why: a/b}", "{why: bc, other: x}"),
		privileged: m.Intn(2) == 0,
	}
	if !s.privileged {
		s.spec = m.one("", "hostUsers: false\n", "hostUsers: true\n")
	}
	for range 1 + m.Intn(3) {
		one := mount{m.one("/", "/a", "/a/", "/a/b", "/a/b/c", "/a//c/x", "/b/b", "/ab/c", kubelet, kubelet+"/plugins/x"), m.one("/", "/d", "/d/e", "/d/e/f", "g"), m.one("", "None", slave), m.one("", "readOnly: true", "readOnly: false")}
		if s.privileged && m.Intn(2) == 0 {
			one.propagation = shared
		}
		if !plain {
			one.source = m.one(one.source, one.source, emptyDir, claim, "secret: {secretName: s}")
			if strings.Contains(one.source, "/") && m.Intn(8) == 0 {
				one.more = "subPath: x"
			}
		}
		s.mounts = append(s.mounts, one)
	}
	return s
}

// TestAnyExportIsSoundAndExact: whatever the policy, nothing is refused that the
// node would let through; and where a manifest shows all that the rules ask for,
// it is refused here exactly where the node refuses it.
func TestAnyExportIsSoundAndExact(t *testing.T) {
	m := maker{rand.New(rand.NewSource(1))}
	var refused, let, weaker, nothing int
	for round := range 80 {
		plain := round%2 == 0
		text := m.policy(plain)
		p := parse(t, text)
		e, err := vap.Export(p, vap.Options{Name: "mountward", Vars: vars()})
		if errors.Is(err, vap.ErrNothing) {
			nothing++
		} else if err != nil {
			t.Fatal(err)
		}
		var server *apiServer
		if err == nil {
			server = startAPIServer(t, e.YAML())
		}
		for range 25 {
			manifest := m.shape(plain).yaml()
			want := explain(t, p, manifest)
			got := server != nil && server.ask(t, request{object: object(t, manifest)}).refused()
			switch {
			case got && (!want.denied || !want.sure):
				t.Fatalf("refused, but the node would let it through:\n%s\n%s\n%s", text, manifest, e.YAML())
			case got:
				refused++
			case !want.denied:
				let++
			case plain:
				t.Fatalf("let through, but the node denies by %v:\n%s\n%s", want.rules, text, manifest)
			default:
				weaker++
			}
		}
	}
	t.Logf("%d refused as on the node, %d let through as on the node, %d left to the node; %d policies with nothing to refuse", refused, let, weaker, nothing)
	if refused < 200 || let < 200 {
		t.Error("too few answers of one kind to show anything")
	}
}
