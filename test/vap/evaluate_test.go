package vap

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// expression is one for the compiler of the API server.
type expression struct {
	name, text string
	types      []*cel.Type
}

func (e expression) GetExpression() string    { return e.text }
func (e expression) GetName() string          { return e.name }
func (e expression) ReturnTypes() []*cel.Type { return e.types }

// compiled is a policy as an API server has it, in the parts that its admission
// plugin puts together: those of the plugin's own libraries.
type compiled struct {
	policy                *admissionv1.ValidatingAdmissionPolicy
	conditions            matchconditions.Matcher
	validations, messages plugincel.ConditionEvaluator
}

// compile takes a policy as an API server of Kubernetes 1.minor does that is given
// it.
func compile(t testing.TB, p *admissionv1.ValidatingAdmissionPolicy, minor uint) compiled {
	t.Helper()
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(version.MajorMinor(1, minor)))
	if err != nil {
		t.Fatal(err)
	}
	declared := plugincel.OptionalVariableDeclarations{HasAuthorizer: true}
	for _, v := range p.Spec.Variables {
		e := expression{v.Name, v.Expression, []*cel.Type{cel.AnyType, cel.DynType}}
		if r := compiler.CompileAndStoreVariable(e, declared, environment.NewExpressions); r.Error != nil {
			t.Fatalf("variable %s: %v", v.Name, r.Error)
		}
	}
	evaluator := func(all []plugincel.ExpressionAccessor, declared plugincel.OptionalVariableDeclarations) plugincel.ConditionEvaluator {
		c := compiler.CompileCondition(all, declared, environment.NewExpressions)
		if err := errors.Join(c.CompilationErrors()...); err != nil {
			t.Fatal(err)
		}
		return c
	}
	var conditions, validations, messages []plugincel.ExpressionAccessor
	for i := range p.Spec.MatchConditions {
		conditions = append(conditions, (*matchconditions.MatchCondition)(&p.Spec.MatchConditions[i]))
	}
	for _, v := range p.Spec.Validations {
		validations = append(validations, expression{text: v.Expression, types: []*cel.Type{cel.BoolType}})
		messages = append(messages, expression{text: v.MessageExpression, types: []*cel.Type{cel.StringType}})
	}
	return compiled{
		p, matchconditions.NewMatcher(evaluator(conditions, declared), p.Spec.FailurePolicy, "policy", "validate", p.Name),
		evaluator(validations, declared), evaluator(messages, plugincel.OptionalVariableDeclarations{}),
	}
}

// asks reports whether the policy is about such a request at all.
func (c compiled) asks(ctx context.Context, t testing.TB, v *admission.VersionedAttributes) bool {
	t.Helper()
	r, resource := v.GetResource(), v.GetResource().Resource
	if v.GetSubresource() != "" {
		resource += "/" + v.GetSubresource()
	}
	if !slices.ContainsFunc(c.policy.Spec.MatchConstraints.ResourceRules, func(rule admissionv1.NamedRuleWithOperations) bool {
		return slices.Contains(rule.APIGroups, r.Group) && slices.Contains(rule.APIVersions, r.Version) &&
			slices.Contains(rule.Resources, resource) && slices.Contains(rule.Operations, admissionv1.OperationType(v.GetOperation()))
	}) {
		return false
	}
	match := c.conditions.Match(ctx, v, nil, nil)
	if match.Error != nil {
		t.Fatal(match.Error)
	}
	return match.Matches
}

// evaluate returns the messages of the validations that do not hold, and what it
// costs of the API server's budget to find out.
func (c compiled) evaluate(ctx context.Context, t testing.TB, a admission.Attributes) (refusals []string, cost int64) {
	t.Helper()
	v, err := admission.NewVersionedAttributes(a, a.GetKind(), admission.NewObjectInterfacesFromScheme(kinds))
	if err != nil {
		t.Fatal(err)
	}
	if !c.asks(ctx, t, v) {
		return nil, 0
	}
	request := plugincel.CreateAdmissionRequest(a, metav1.GroupVersionResource(a.GetResource()), metav1.GroupVersionKind(a.GetKind()))
	evaluate := func(e plugincel.ConditionEvaluator, budget int64) ([]plugincel.EvaluationResult, int64) {
		results, left, err := e.ForInput(ctx, v, request, plugincel.OptionalVariableBindings{}, nil, budget)
		if err != nil {
			t.Fatal(err)
		}
		return results, left
	}
	results, left := evaluate(c.validations, celconfig.RuntimeCELCostBudget)
	messages, left := evaluate(c.messages, left)
	for i, r := range results {
		if err := errors.Join(r.Error, messages[i].Error); err != nil {
			t.Fatal(err)
		}
		if r.EvalResult != types.True {
			text := messages[i].EvalResult.Value().(string)
			if len(text) > celconfig.MaxEvaluatedMessageExpressionSizeBytes || strings.Contains(text, "\n") {
				text = c.policy.Spec.Validations[i].Message
			}
			refusals = append(refusals, text)
		}
	}
	return refusals, celconfig.RuntimeCELCostBudget - left
}
