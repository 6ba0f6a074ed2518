package vap

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/lazy"
)

// compiled is a policy as an API server has it.
type compiled struct {
	policy                                       *admissionv1.ValidatingAdmissionPolicy
	conditions, variables, validations, messages []expression
}

// expression is a compiled one. The name is that of a variable.
type expression struct {
	name    string
	program cel.Program
}

// compile takes a policy as an API server of Kubernetes 1.minor does that is given
// it: with its CEL library, its functions and its limits.
func compile(t testing.TB, p *admissionv1.ValidatingAdmissionPolicy, minor uint) compiled {
	t.Helper()
	env, variables := celEnv(t, minor)
	one := func(name, text string, types ...*cel.Type) (expression, *cel.Type) {
		ast, issues := env.Compile(text)
		if issues.Err() != nil {
			t.Fatalf("%s: %v", name, issues.Err())
		}
		if len(types) > 0 && !slices.ContainsFunc(types, ast.OutputType().IsExactType) {
			t.Fatalf("%s: it is of type %s: %s", name, ast.OutputType(), text)
		}
		program, err := env.Program(ast, cel.InterruptCheckFrequency(celconfig.CheckFrequency))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return expression{name, program}, ast.OutputType()
	}
	c := compiled{policy: p}
	for _, v := range p.Spec.MatchConditions {
		e, _ := one(v.Name, v.Expression, cel.BoolType)
		c.conditions = append(c.conditions, e)
	}
	for _, v := range p.Spec.Variables {
		e, is := one(v.Name, v.Expression)
		c.variables = append(c.variables, e)
		variables.Fields[v.Name] = apiservercel.NewDeclField(v.Name, declared(is), true, nil, nil)
	}
	for _, v := range p.Spec.Validations {
		e, _ := one("validation", v.Expression, cel.BoolType)
		m, _ := one("message", v.MessageExpression, cel.StringType)
		c.validations, c.messages = append(c.validations, e), append(c.messages, m)
	}
	return c
}

// celEnv has what expressions of policies are about, and the type of variables, with
// no field yet. Source: k8s.io/apiserver 0.37 pkg/admission/plugin/cel, compile.go
// and composition.go; of a request there is what an export asks for.
func celEnv(t testing.TB, minor uint) (*cel.Env, *apiservercel.DeclType) {
	t.Helper()
	fields := map[string]*apiservercel.DeclField{}
	for _, name := range []string{"namespace", "operation", "subResource"} {
		fields[name] = apiservercel.NewDeclField(name, apiservercel.StringType, true, nil, nil)
	}
	asked := apiservercel.NewObjectType("kubernetes.AdmissionRequest", fields)
	variables := apiservercel.NewObjectType("kubernetes.variables", map[string]*apiservercel.DeclField{})
	set, err := environment.MustBaseEnvSet(version.MajorMinor(1, minor)).Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions: []cel.EnvOption{
			cel.Variable("object", cel.DynType), cel.Variable("oldObject", cel.DynType),
			cel.Variable("request", asked.CelType()), cel.Variable("variables", variables.CelType()),
		},
		DeclTypes: []*apiservercel.DeclType{asked, variables},
	})
	if err != nil {
		t.Fatal(err)
	}
	return set.NewExpressionsEnv(), variables
}

// declared is the type of a field that has values of a type.
func declared(is *cel.Type) *apiservercel.DeclType {
	const unlimited = -1
	switch is.Kind() {
	case types.BoolKind:
		return apiservercel.BoolType
	case types.StringKind:
		return apiservercel.StringType
	case types.IntKind:
		return apiservercel.IntType
	case types.ListKind:
		return apiservercel.NewListType(declared(is.Parameters()[0]), unlimited)
	case types.MapKind:
		return apiservercel.NewMapType(declared(is.Parameters()[0]), declared(is.Parameters()[1]), unlimited)
	default:
		return apiservercel.DynType
	}
}

// evaluation evaluates expressions about one request. A variable is evaluated where
// it is asked for, once.
type evaluation struct {
	values cel.Activation
	cost   int64 // of the API server's budget
}

func (c compiled) about(ctx context.Context, t testing.TB, r request) *evaluation {
	t.Helper()
	is := &evaluation{}
	variables := lazy.NewMapValue(types.NewObjectType("kubernetes.variables"))
	values := map[string]any{"object": r.object, "oldObject": types.NullValue, "request": r.asked(), "variables": variables}
	if r.old != nil {
		values["oldObject"] = r.old
	}
	for _, v := range c.variables {
		variables.Append(v.name, func(*lazy.MapValue) ref.Val { return is.of(ctx, t, v) })
	}
	var err error
	if is.values, err = cel.NewActivation(values); err != nil {
		t.Fatal(err)
	}
	return is
}

func (is *evaluation) of(ctx context.Context, t testing.TB, e expression) ref.Val {
	t.Helper()
	v, details, err := e.program.ContextEval(ctx, is.values)
	if err != nil {
		t.Fatalf("%s: %v", e.name, err)
	}
	is.cost += int64(*details.ActualCost())
	return v
}

// asks reports whether the policy is about such a request at all.
func (c compiled) asks(ctx context.Context, t testing.TB, r request) bool {
	t.Helper()
	group, version, resource := r.resource()
	if !slices.ContainsFunc(c.policy.Spec.MatchConstraints.ResourceRules, func(rule admissionv1.NamedRuleWithOperations) bool {
		return slices.Contains(rule.APIGroups, group) && slices.Contains(rule.APIVersions, version) &&
			slices.Contains(rule.Resources, resource) && slices.Contains(rule.Operations, admissionv1.OperationType(r.operation()))
	}) {
		return false
	}
	is := c.about(ctx, t, r)
	for _, e := range c.conditions {
		if is.of(ctx, t, e) != types.True {
			return false
		}
	}
	return true
}

// evaluate returns the messages of the validations that do not hold, and what it
// costs of the API server's budget to find out: variables count for validations and
// for messages.
func (c compiled) evaluate(ctx context.Context, t testing.TB, r request) (refusals []string, cost int64) {
	t.Helper()
	if !c.asks(ctx, t, r) {
		return nil, 0
	}
	validations, messages := c.about(ctx, t, r), c.about(ctx, t, r)
	for i := range c.validations {
		holds := validations.of(ctx, t, c.validations[i])
		text := messages.of(ctx, t, c.messages[i]).Value().(string)
		if holds != types.True {
			if len(text) > celconfig.MaxEvaluatedMessageExpressionSizeBytes || strings.Contains(text, "\n") {
				text = c.policy.Spec.Validations[i].Message
			}
			refusals = append(refusals, text)
		}
	}
	return refusals, validations.cost + messages.cost
}
