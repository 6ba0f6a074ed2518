package policy

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/strict"
)

// everyKey returns what match and except can hold, each with values of which some
// fit the containers that a maker makes.
func everyKey() []string {
	return []string{
		`namespace = ["b", "kube-*"]`, `pod = ["a-?"]`, `container = ["a"]`, `pod_labels = { app = "x" }`,
		`pod_annotations = { "kubernetes.io/config.source" = ["file", ""] }`, `image = ["docker.io/*"]`, `runtime_handler = ["kata", "x"]`,
		`source = ["/data/**", "${kubelet_root}/*"]`, `source = ["/"]`, `source = ["${runtime_state}/**"]`, `destination = ["/run", "/data/*"]`,
		`propagation = ["shared", "unset"]`, `propagation = ["private", "unbindable"]`, `readonly = true`, `privileged = true`,
		`privileged = false`, `user_namespace = true`, `static_pod = true`, `role = ["csi-node"]`, `hazard = ["MW101"]`,
		`volume.kind = ["csi"]`, `volume.name = ["*"]`, `volume = { kind = ["hostPath"], driver = ["d"] }`,
		`host.propagation = ["shared"]`, `host.propagation = ["private", "slave"]`,
	}
}

// author writes policies at random.
type author struct{ *rand.Rand }

// keysOf picks some keys, each once.
func (a author) keysOf(most int, also ...string) string {
	all := append(everyKey(), also...)
	a.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var picked []string
	seen := map[string]bool{}
	for _, key := range all[:a.IntN(most+1)] {
		name, _, _ := strings.Cut(key, " ")
		table, _, _ := strings.Cut(name, ".")
		if !seen[table] {
			seen[table] = true
			picked = append(picked, key)
		}
	}
	return strings.Join(picked, ", ")
}

// rule writes one rule, with its except apart.
func (a author) rule(name string) (rule, except string) {
	action := []string{"allow", "set", "deny", "audit"}[a.IntN(4)]
	var also []string
	if action == "audit" {
		also = []string{`lvm.vg = ["vg0"]`, `lvm = { vg = ["vg?"], lv = ["a"] }`}
	}
	rule = fmt.Sprintf("[[rule]]\nname = %q\nmatch = { %s }\naction = %q\n", name, a.keysOf(3, also...), action)
	if action == "set" {
		rule += "propagation = \"rslave\"\n"
	}
	if action != "audit" && a.IntN(6) == 0 {
		rule += "mode = \"audit\"\n"
	}
	if keys := a.keysOf(3, also...); keys != "" {
		except = "except = { " + keys + " }\n"
	}
	return rule, except
}

func (a author) policy(rules int) string {
	text := head
	for i := range rules {
		rule, except := a.rule(fmt.Sprint("r", i))
		text += rule + except
	}
	return text
}

// maker returns a maker of facts out of random bytes, most of them small.
func (a author) maker() *maker {
	data := make([]byte, 400)
	for i := range data {
		data[i] = byte(a.IntN(6))
		if a.IntN(20) == 0 {
			data[i] = byte(a.IntN(256))
		}
	}
	return &maker{data}
}

// TestRandomPoliciesKeepTheirPromises: whatever a valid policy says, its decision
// is one, its trace ends at it, and what stands below the deciding rule has no
// part in it.
func TestRandomPoliciesKeepTheirPromises(t *testing.T) {
	decided := 0
	for seed := range uint64(1500) {
		a := author{rand.New(rand.NewPCG(seed, 1))}
		text := a.policy(a.IntN(6))
		below, except := a.rule("below")
		p, longer := parse(t, text), parse(t, text+below+except)
		for range 5 {
			m := a.maker()
			c := m.container()
			env := m.env(longer)
			got, more := check(t, p, c, env), check(t, longer, c, env)
			for i, d := range got {
				if d.Rule == "" {
					continue
				}
				decided++
				if diff := cmp.Diff(d, more[i]); diff != "" {
					t.Fatalf("seed %d: a rule below the deciding one changed the decision: %s", seed, diff)
				}
			}
		}
	}
	if decided < 800 {
		t.Errorf("only %d mounts were decided by a rule", decided)
	}
}

// TestExceptOnlyNarrows: a rule applies to no mount that it would not apply to
// without its except.
func TestExceptOnlyNarrows(t *testing.T) {
	narrowed := 0
	for seed := range uint64(1000) {
		a := author{rand.New(rand.NewPCG(seed, 2))}
		rule, except := a.rule("a")
		wide, narrow := parse(t, head+rule), parse(t, head+rule+except)
		for range 5 {
			m := a.maker()
			c := m.container()
			env := m.env(narrow)
			w, n := wide.Decide(c, env, false), narrow.Decide(c, env, false)
			for i := range n {
				was, is := applied(w[i]), applied(n[i])
				if is && !was {
					t.Fatalf("seed %d: %s makes %+v match\n%s", seed, except, c.Mounts[i], rule)
				}
				if was && !is {
					narrowed++
				}
			}
		}
	}
	if narrowed < 100 {
		t.Errorf("only %d mounts were excepted", narrowed)
	}
}

// applied reports whether the only rule of a policy had a part in a decision.
func applied(d Decision) bool { return d.Rule != "" || len(d.Audited) > 0 || len(d.Shadow) > 0 }

// TestMutatedPoliciesAreReadOrRefused: a policy with bytes or lines changed is
// refused with a place, or decides without a panic and as one.
func TestMutatedPoliciesAreReadOrRefused(t *testing.T) {
	files, err := filepath.Glob("testdata/good/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files (%v)", len(files), err)
	}
	var texts []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	accepted, refused := 0, 0
	for seed := range uint64(3000) {
		a := author{rand.New(rand.NewPCG(seed, 3))}
		text := append(texts, a.policy(3))[a.IntN(len(texts)+1)]
		for range 1 + a.IntN(3) {
			text = a.mutate(text)
		}
		p, err := Parse(File{"p.toml", []byte(text)})
		if err != nil {
			var list strict.Errors
			if !errors.As(err, &list) || len(list) == 0 || list[0].Line < 1 || list[0].Column < 1 {
				t.Fatalf("seed %d: error %v without a place", seed, err)
			}
			refused++
			continue
		}
		accepted++
		m := a.maker()
		c := m.container()
		check(t, p, c, m.env(p))
		if p.Default != facts.ActionAllow && p.Default != facts.ActionDeny {
			t.Fatalf("seed %d: default %q", seed, p.Default)
		}
	}
	if accepted < 300 || refused < 300 {
		t.Errorf("%d accepted and %d refused: the mutations are too wild or too tame", accepted, refused)
	}
}

// mutate changes a text a little.
func (a author) mutate(text string) string {
	if text == "" {
		return "x"
	}
	lines := strings.SplitAfter(text, "\n")
	i, j, at := a.IntN(len(lines)), a.IntN(len(lines)), a.IntN(len(text))
	switch a.IntN(6) {
	case 0:
		return strings.Join(slices.Delete(lines, i, i+1), "")
	case 1:
		lines[i], lines[j] = lines[j], lines[i]
		return strings.Join(lines, "")
	case 2:
		return strings.Join(slices.Insert(lines, i, lines[j]), "")
	case 3:
		return text[:at] + string(rune("*?/{}[]\"'=.,#$ xX0\n\x00é"[a.IntN(22)])) + text[at:]
	case 4:
		return text[:at] + text[at+1:]
	default:
		words := []string{"match", "except", "lvm", "volume", "kind", "audit", "deny", "source", "**", "${kubelet_root}", "shared", "[]", "{}"}
		from, to := words[a.IntN(len(words))], words[a.IntN(len(words))]
		return strings.Replace(text, from, to, 1)
	}
}
