package vap

import (
	"context"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
)

// kinds are the objects that an export is about, and those that it consists of.
var kinds = func() *runtime.Scheme {
	all := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{admissionv1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme} {
		if err := add(all); err != nil {
			panic(err)
		}
	}
	return all
}()

// object reads one document as the API server does, and takes no key that it does
// not know.
func object(t testing.TB, text string) runtime.Object {
	t.Helper()
	o, _, err := serializer.NewCodecFactory(kinds, serializer.EnableStrict).UniversalDeserializer().Decode([]byte(text), nil, nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return o
}

// apiServer judges by the objects of one export.
type apiServer struct{ judge judge }

// judge answers one request: with an error that refuses it, and warnings. There
// are two. Usually a policy is compiled and evaluated by the libraries that the
// admission plugin of kube-apiserver has for it; with -tags plugin the plugin
// itself is asked, which also takes the clients and informers of Kubernetes to
// build.
type judge func(context.Context, *testing.T, admission.Attributes) answer

// startAPIServer reads an export as kubectl does and puts it into force.
func startAPIServer(t *testing.T, export []byte) *apiServer {
	t.Helper()
	var p *admissionv1.ValidatingAdmissionPolicy
	var b *admissionv1.ValidatingAdmissionPolicyBinding
	for document := range strings.SplitSeq("\n"+string(export), "\n---\n") {
		switch o := object(t, document).(type) {
		case *admissionv1.ValidatingAdmissionPolicy:
			p = o
		case *admissionv1.ValidatingAdmissionPolicyBinding:
			b = o
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

// request is one object on its way into the cluster.
type request struct {
	object, old runtime.Object
	subresource string
}

func (r request) attributes(t testing.TB) admission.Attributes {
	t.Helper()
	of, _, err := kinds.ObjectKinds(r.object)
	if err != nil {
		t.Fatal(err)
	}
	resource, _ := meta.UnsafeGuessKindToResource(of[0])
	m, err := meta.Accessor(r.object)
	if err != nil {
		t.Fatal(err)
	}
	operation := admission.Create
	var options runtime.Object = &metav1.CreateOptions{}
	if r.old != nil {
		operation, options = admission.Update, &metav1.UpdateOptions{}
	}
	return admission.NewAttributesRecord(r.object, r.old, of[0], m.GetNamespace(), m.GetName(), resource, r.subresource, operation, options, false, &user.DefaultInfo{Name: "somebody"})
}

// answer is what the API server says: an error where it refuses, and warnings.
type answer struct {
	err      error
	warnings []string
}

func (a answer) refused() bool { return a.err != nil || len(a.warnings) > 0 }

func (s *apiServer) ask(t *testing.T, r request) answer {
	t.Helper()
	a := s.judge(context.Background(), t, r.attributes(t))
	if a.err != nil && !strings.Contains(a.err.Error(), "mountward refuses mount") {
		t.Fatalf("not a refusal: %v", a.err)
	}
	return a
}
