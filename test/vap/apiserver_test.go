package vap

import (
	"context"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// read reads one document as the API server does.
func read(t testing.TB, text string, to any) {
	t.Helper()
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}

// object reads one object.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	var o map[string]any
	read(t, text, &o)
	return o
}

// apiServer judges by the objects of one export.
type apiServer struct{ judge judge }

// judge answers one request: with an error that refuses it, and warnings. There
// are two. Usually a policy is compiled and evaluated by the CEL library of
// kube-apiserver; with -tags plugin its whole admission plugin is asked, which
// also takes the clients and informers of Kubernetes to build.
type judge func(context.Context, *testing.T, request) answer

// startAPIServer reads an export as kubectl does and puts it into force.
func startAPIServer(t *testing.T, export []byte) *apiServer {
	t.Helper()
	var p *admissionv1.ValidatingAdmissionPolicy
	var b *admissionv1.ValidatingAdmissionPolicyBinding
	for document := range strings.SplitSeq("\n"+string(export), "\n---\n") {
		switch object(t, document)["kind"] {
		case "ValidatingAdmissionPolicy":
			p = policyOf(t, document)
		case "ValidatingAdmissionPolicyBinding":
			b = &admissionv1.ValidatingAdmissionPolicyBinding{}
			strict(t, document, b)
		}
	}
	if p == nil || b == nil || b.Spec.PolicyName != p.Name {
		t.Fatalf("no policy with its binding in\n%s", export)
	}
	// An expression that goes wrong must show.
	fail := admissionv1.Fail
	if p.Spec.FailurePolicy == nil || *p.Spec.FailurePolicy != admissionv1.Ignore {
		t.Fatal("an export that fails to evaluate would refuse")
	}
	p.Spec.FailurePolicy = &fail
	return &apiServer{start(t, p, b)}
}

func policyOf(t testing.TB, document string) *admissionv1.ValidatingAdmissionPolicy {
	t.Helper()
	p := &admissionv1.ValidatingAdmissionPolicy{}
	strict(t, document, p)
	return p
}

// strict takes no key that the object has not.
func strict(t testing.TB, document string, to any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(document), to); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
}

// request is one object on its way into the cluster.
type request struct {
	object, old map[string]any
	subresource string
}

// resource is the group, the version and the resource of it, as a policy has them.
func (r request) resource() (group, version, resource string) {
	group, version, grouped := strings.Cut(r.object["apiVersion"].(string), "/")
	if !grouped {
		group, version = "", group
	}
	resource = strings.ToLower(r.object["kind"].(string)) + "s"
	if r.subresource != "" {
		resource += "/" + r.subresource
	}
	return group, version, resource
}

func (r request) operation() string {
	if r.old != nil {
		return "UPDATE"
	}
	return "CREATE"
}

func (r request) meta(key string) string { return r.object["metadata"].(map[string]any)[key].(string) }

// asked is the request as expressions see it: nothing in it is empty.
func (r request) asked() map[string]any {
	asked := map[string]any{"namespace": r.meta("namespace"), "operation": r.operation()}
	if r.subresource != "" {
		asked["subResource"] = r.subresource
	}
	return asked
}

// answer is what the API server says: an error where it refuses, and warnings.
type answer struct {
	err      error
	warnings []string
}

func (a answer) refused() bool { return a.err != nil || len(a.warnings) > 0 }

func (s *apiServer) ask(t *testing.T, r request) answer {
	t.Helper()
	a := s.judge(context.Background(), t, r)
	if a.err != nil && !strings.Contains(a.err.Error(), "mountward refuses mount") {
		t.Fatalf("not a refusal: %v", a.err)
	}
	return a
}
