package vap

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/mountward/mountward/pkg/vap"
)

// cost is what an API server of the version spends on an object.
func cost(t *testing.T, e *vap.Exported, minor uint, o runtime.Object) int64 {
	t.Helper()
	policy, _, _ := strings.Cut(string(e.YAML()), "\n---\n")
	c := compile(t, object(t, policy).(*admissionv1.ValidatingAdmissionPolicy), minor)
	_, cost := c.evaluate(context.Background(), t, request{object: o}.attributes(t))
	return cost
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
	pod := func(n int) runtime.Object {
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
