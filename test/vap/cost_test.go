package vap

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/mountward/mountward/pkg/vap"
)

// named is an expression for the compiler of the API server.
type named struct {
	vap.Variable
	types []*cel.Type
}

func (n named) GetExpression() string    { return n.Expression }
func (n named) GetName() string          { return n.Name }
func (n named) ReturnTypes() []*cel.Type { return n.types }

// evaluate evaluates the validations as an API server of the version would that
// is given the policy, and returns what that costs of a budget.
func evaluate(t testing.TB, e *vap.Exported, minor uint, o runtime.Object) (results []plugincel.EvaluationResult, cost int64) {
	t.Helper()
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(version.MajorMinor(1, minor)))
	if err != nil {
		t.Fatal(err)
	}
	declared := plugincel.OptionalVariableDeclarations{HasAuthorizer: true}
	for _, v := range e.Policy.Spec.Variables {
		if r := compiler.CompileAndStoreVariable(named{v, []*cel.Type{cel.AnyType, cel.DynType}}, declared, environment.NewExpressions); r.Error != nil {
			t.Fatalf("variable %s: %v", v.Name, r.Error)
		}
	}
	var all []plugincel.ExpressionAccessor
	for _, c := range e.Policy.Spec.MatchConditions {
		all = append(all, named{c, []*cel.Type{cel.BoolType}})
	}
	for _, v := range e.Policy.Spec.Validations {
		all = append(all, named{vap.Variable{Expression: v.Expression}, []*cel.Type{cel.BoolType}}, named{vap.Variable{Expression: v.MessageExpression}, []*cel.Type{cel.StringType}})
	}
	condition := compiler.CompileCondition(all, declared, environment.NewExpressions)
	for _, err := range condition.CompilationErrors() {
		t.Fatal(err)
	}
	kinds, _, err := scheme.Scheme.ObjectKinds(o)
	if err != nil {
		t.Fatal(err)
	}
	resource, _ := meta.UnsafeGuessKindToResource(kinds[0])
	attributes := admission.NewAttributesRecord(o, nil, kinds[0], "default", "thing", resource, "", admission.Create, &metav1.CreateOptions{}, false, nil)
	versioned, err := admission.NewVersionedAttributes(attributes, kinds[0], admission.NewObjectInterfacesFromScheme(scheme.Scheme))
	if err != nil {
		t.Fatal(err)
	}
	r := plugincel.CreateAdmissionRequest(attributes, metav1.GroupVersionResource(resource), metav1.GroupVersionKind(kinds[0]))
	results, left, err := condition.ForInput(context.Background(), versioned, r, plugincel.OptionalVariableBindings{}, nil, celconfig.RuntimeCELCostBudget)
	if err != nil {
		t.Fatal(err)
	}
	return results, celconfig.RuntimeCELCostBudget - left
}

func TestTheOldestKubernetesTakesIt(t *testing.T) {
	for _, p := range policies() {
		for _, minor := range []uint{30, 37} {
			results, _ := evaluate(t, export(t, parse(t, p.text)), minor, object(t, shapes()[12].yaml()))
			for _, r := range results {
				if r.Error != nil {
					t.Errorf("%s on 1.%d: %v", p.name, minor, r.Error)
				}
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
		results, cost := evaluate(t, e, 30, pod(test.mounts))
		t.Logf("%d rules, %d mounts: %d bytes, cost %d of %d", test.rules, test.mounts, len(e.YAML()), cost, celconfig.RuntimeCELCostBudget)
		for _, r := range results {
			if r.Error != nil {
				t.Fatal(r.Error)
			}
		}
		// Messages are evaluated with all variables once more.
		if 2*cost > celconfig.RuntimeCELCostBudget {
			t.Errorf("%d rules, %d mounts: cost %d", test.rules, test.mounts, cost)
		}
	}
}
