package vap

import (
	"regexp"

	"github.com/mountward/mountward/pkg/policy"
)

// Policy is a ValidatingAdmissionPolicy, as far as it is used here.
//
// Source: kubernetes 1.30 and later, admissionregistration.k8s.io/v1.
type Policy struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   Metadata   `json:"metadata"`
	Spec       PolicySpec `json:"spec"`
}

// Metadata names an object.
type Metadata struct {
	Name        string            `json:"name"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// PolicySpec is what a policy says.
type PolicySpec struct {
	FailurePolicy    string       `json:"failurePolicy"`
	MatchConstraints Constraints  `json:"matchConstraints"`
	MatchConditions  []Variable   `json:"matchConditions"`
	Variables        []Variable   `json:"variables"`
	Validations      []Validation `json:"validations"`
}

// Constraints say which requests a policy is about.
type Constraints struct {
	ResourceRules []ResourceRule `json:"resourceRules"`
}

// ResourceRule is one kind of request.
type ResourceRule struct {
	APIGroups   []string `json:"apiGroups"`
	APIVersions []string `json:"apiVersions"`
	Operations  []string `json:"operations"`
	Resources   []string `json:"resources"`
}

// Variable is an expression with a name: a variable or a match condition.
type Variable struct {
	Name       string `json:"name"`
	Expression string `json:"expression"`
}

// Validation is an expression that must hold. Message is what is said where
// MessageExpression gives too long a text, or one of several lines.
type Validation struct {
	Expression        string `json:"expression"`
	Message           string `json:"message"`
	MessageExpression string `json:"messageExpression"`
	Reason            string `json:"reason"`
}

// Binding is a ValidatingAdmissionPolicyBinding: it puts a policy into force.
type Binding struct {
	APIVersion string      `json:"apiVersion"`
	Kind       string      `json:"kind"`
	Metadata   Metadata    `json:"metadata"`
	Spec       BindingSpec `json:"spec"`
}

// BindingSpec is what a binding says.
type BindingSpec struct {
	PolicyName        string   `json:"policyName"`
	ValidationActions []string `json:"validationActions"`
}

const apiVersion = "admissionregistration.k8s.io/v1"

// maxName is the longest name of an object.
const maxName = 253

// ValidName reports whether both objects can have the name: a DNS subdomain.
// Source: RFC 1123, as the API server reads it.
func ValidName(name string) bool {
	return len(name) <= maxName &&
		regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`).MatchString(name)
}

func (w *writer) objects(o Options) (Policy, Binding) {
	texts := make([]string, 0, len(w.variables)+len(w.validations))
	for _, v := range w.variables {
		texts = append(texts, v.Expression)
	}
	for _, v := range w.validations {
		texts = append(texts, v.Expression, v.MessageExpression)
	}
	// What the last deny leaves is asked for by nobody.
	own := needed(w.variables, texts[len(w.variables):]...)
	texts = texts[:0]
	for _, v := range own {
		texts = append(texts, v.Expression)
	}
	actions := []string{"Deny"}
	if w.policy.Mode == policy.ModeAudit {
		actions = []string{"Audit", "Warn"}
	}
	p := Policy{apiVersion, "ValidatingAdmissionPolicy", Metadata{o.Name, map[string]string{"mountward/policy-sha256": w.policy.SHA256}}, PolicySpec{
		FailurePolicy: "Ignore",
		MatchConstraints: Constraints{[]ResourceRule{
			// A pod's mounts do not change once it is there, and what changes
			// (a finalizer that goes) must never be held up.
			{[]string{""}, []string{"v1"}, []string{"CREATE"}, []string{"pods"}},
			{[]string{""}, []string{"v1"}, []string{"UPDATE"}, []string{"pods/ephemeralcontainers"}},
			{[]string{"apps"}, []string{"v1"}, []string{"CREATE", "UPDATE"}, []string{"daemonsets", "deployments", "replicasets", "statefulsets"}},
			{[]string{"batch"}, []string{"v1"}, []string{"CREATE", "UPDATE"}, []string{"cronjobs", "jobs"}},
		}},
		MatchConditions: conditions(),
		Variables:       append(needed(prelude(o.Vars, texts), texts...), own...),
		Validations:     w.validations,
	}}
	return p, Binding{apiVersion, "ValidatingAdmissionPolicyBinding", Metadata{Name: o.Name}, BindingSpec{o.Name, actions}}
}

// conditions say which requests are judged at all.
func conditions() []Variable {
	return []Variable{
		// The image that the kubelet makes of a static pod: it runs already.
		{"no-mirror-pod", `!has(object.metadata.annotations) || !("kubernetes.io/config.mirror" in object.metadata.annotations)`},
		// A workload whose pods do not change is not held up for what they were
		// before the policy was there.
		{"template-changes", `request.operation == "CREATE" || has(request.subResource) && request.subResource == "ephemeralcontainers"
|| (has(object.spec.template) ? !has(oldObject.spec.template) || object.spec.template != oldObject.spec.template
  : !has(oldObject.spec.jobTemplate) || object.spec.jobTemplate != oldObject.spec.jobTemplate)`},
	}
}
