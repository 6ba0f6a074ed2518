package vap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/vap"
)

// cost is the most that an API server of the version spends on one of the objects.
// More than the limit for one expression is an error of the evaluation.
func cost(t *testing.T, e *vap.Exported, minor uint, objects ...map[string]any) (most int64) {
	t.Helper()
	policy, _, _ := strings.Cut(string(e.YAML()), "\n---\n")
	c := compile(t, policyOf(t, policy), minor)
	for _, o := range objects {
		_, cost := c.evaluate(context.Background(), t, request{object: o})
		most = max(most, cost)
	}
	return most
}

func TestTheOldestKubernetesTakesIt(t *testing.T) {
	for _, p := range policies() {
		for _, minor := range []uint{30, 37} {
			if cost(t, export(t, parse(t, p.text)), minor, object(t, shapes()[12].yaml())) == 0 {
				t.Errorf("%s on 1.%d: nothing was evaluated", p.name, minor)
			}
		}
	}
}

// large is a pod of privileged containers with 12 mounts each, in the words that
// the examples' rules have.
func large(containers int) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: Pod\nmetadata: {name: large, namespace: tenant-of-a-name-of-usual-length, labels: {app: large, team: a}}\nspec:\n  containers:\n")
	for i := range containers {
		fmt.Fprintf(&b, "  - name: c%d\n    image: i\n    securityContext: {privileged: true}\n    volumeMounts:\n", i)
		for j := range 12 {
			fmt.Fprintf(&b, "    - {name: v%d, mountPath: /some/where/in/the/container/%d, mountPropagation: %s}\n", j, j, []string{"None", slave, shared}[j%3])
		}
	}
	b.WriteString("  volumes:\n")
	for j := range 12 {
		fmt.Fprintf(&b, "  - {name: v%d, hostPath: {path: /var/lib/kubelet/plugins/some.driver.example.com/%d}}\n", j, j)
	}
	return b.String()
}

// TestEveryExampleIsEvaluated: each shipped example, and all drop-ins together, on
// every manifest and on a pod of 10 containers with 12 mounts each.
func TestEveryExampleIsEvaluated(t *testing.T) {
	const dir = "../../config/examples/"
	file := func(name string) policy.File {
		data, err := os.ReadFile(dir + name)
		if err != nil {
			t.Fatal(err)
		}
		return policy.File{Name: name, Data: data}
	}
	main := file("main.toml")
	policies := map[string][]policy.File{}
	together := []policy.File{main}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".toml") || strings.HasSuffix(name, "_test.toml") {
			continue
		}
		if f := file(name); strings.Contains(string(f.Data), "\nversion") {
			policies[name] = []policy.File{f}
		} else {
			policies[name] = []policy.File{main, f}
			together = append(together, f)
		}
	}
	policies["all drop-ins"] = together
	objects := []map[string]any{object(t, large(10))}
	for _, s := range shapes() {
		objects = append(objects, object(t, s.yaml()))
	}
	evaluated := 0
	for name, files := range policies {
		p, err := policy.Parse(files[0], files[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		e, err := vap.Export(p, vap.Options{Name: "mountward", Vars: vars()})
		if errors.Is(err, vap.ErrNothing) {
			t.Logf("%s: no manifest shows what it refuses", name)
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		evaluated++
		most := cost(t, e, 30, objects...)
		t.Logf("%s: cost %d of %d", name, most, celconfig.RuntimeCELCostBudget)
		if most == 0 || most > celconfig.RuntimeCELCostBudget {
			t.Errorf("%s: cost %d", name, most)
		}
	}
	if evaluated < 4 {
		t.Errorf("%d of %d were evaluated", evaluated, len(policies))
	}
}

// TestAPolicyOfManyRulesIsEvaluated: 200 rules and 12 mounts are far within what
// the API server spends on one object, and what Export takes is evaluated for a
// pod of one mount.
func TestAPolicyOfManyRulesIsEvaluated(t *testing.T) {
	rules := func(n int, source string) string {
		var b strings.Builder
		b.WriteString(head + "default = \"allow\"\n")
		for i := range n {
			action := []string{"allow", "deny", "deny"}[i%3]
			fmt.Fprintf(&b, "[[rule]]\nname = \"r%d\"\nmatch.source = [\"/srv/%d/**\", \"%s%d/*/x\"]\nmatch.propagation = [\"shared\", \"private\"]\naction = %q\n", i, i, source, i, action)
		}
		return b.String()
	}
	pod := func(n int) map[string]any {
		s := shape{}
		for i := range n {
			s.mounts = append(s.mounts, mount{fmt.Sprintf("/data/some/where/not/too/short/%d", i), fmt.Sprintf("/d%d", i), "", ""})
		}
		return object(t, s.yaml())
	}
	for _, test := range []struct {
		rules, mounts int
		source        string
	}{
		{200, 12, "/data/a"},
		{200, 40, "/data/a"},
		{900, 1, "/data/some/where/" + strings.Repeat("*a", 20)},
	} {
		e := export(t, parse(t, rules(test.rules, test.source)))
		cost := cost(t, e, 30, pod(test.mounts))
		t.Logf("%d rules, %d mounts: %d bytes, cost %d of %d", test.rules, test.mounts, len(e.YAML()), cost, celconfig.RuntimeCELCostBudget)
		if cost > celconfig.RuntimeCELCostBudget || cost == 0 {
			t.Errorf("%d rules, %d mounts: cost %d", test.rules, test.mounts, cost)
		}
	}
}
