package vap

import (
	"context"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/policy/generic"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/apiserver/pkg/warning"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	klog.LogToStderr(false) // the plugin tells of every refresh
	klog.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// apiServer is the admission plugin of kube-apiserver that judges by
// ValidatingAdmissionPolicies, with the objects of one export.
type apiServer struct {
	plugin *validating.Plugin
}

// startAPIServer reads an export as kubectl does and puts it into force.
func startAPIServer(t testing.TB, export []byte) *apiServer {
	t.Helper()
	t.Cleanup(generic.SetPolicyRefreshIntervalForTests(5 * time.Millisecond))
	var objects []runtime.Object
	for _, document := range documents(export) {
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(document, nil, nil)
		if err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if p, ok := object.(*admissionv1.ValidatingAdmissionPolicy); ok {
			defaults(p)
			// An expression that goes wrong must show.
			fail := admissionv1.Fail
			if p.Spec.FailurePolicy == nil || *p.Spec.FailurePolicy != admissionv1.Ignore {
				t.Fatal("an export that fails to evaluate would refuse")
			}
			p.Spec.FailurePolicy = &fail
		}
		objects = append(objects, object)
	}
	for _, name := range []string{"default", "kube-system", "monitoring"} {
		objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	plugin, err := validating.NewPlugin(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := fake.NewSimpleClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion})
	initializer.New(client, dynamicfake.NewSimpleDynamicClient(scheme.Scheme), factory, authorizerfactory.NewAlwaysAllowAuthorizer(), featuregate.NewFeatureGate(),
		compatibility.DefaultBuildEffectiveVersion(), ctx.Done(), mapper).Initialize(plugin)
	plugin.SetRESTMapper(mapper)
	if err := plugin.ValidateInitialization(); err != nil {
		t.Fatal(err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if !plugin.WaitForReady() {
		t.Fatal("the plugin does not get ready")
	}
	return &apiServer{plugin}
}

// defaults are those of the API server for what an export leaves out.
func defaults(p *admissionv1.ValidatingAdmissionPolicy) {
	equivalent, all := admissionv1.Equivalent, admissionv1.AllScopes
	c := p.Spec.MatchConstraints
	c.MatchPolicy, c.NamespaceSelector, c.ObjectSelector = &equivalent, &metav1.LabelSelector{}, &metav1.LabelSelector{}
	for i := range c.ResourceRules {
		c.ResourceRules[i].Scope = &all
	}
}

func documents(yaml []byte) [][]byte {
	var all [][]byte
	for _, document := range strings.Split("\n"+string(yaml), "\n---\n") {
		all = append(all, []byte(document))
	}
	return all
}

// request is one object on its way into the cluster.
type request struct {
	object, old runtime.Object
	subresource string
}

// answer is what the plugin says: an error where it refuses, and warnings.
type answer struct {
	err      error
	warnings []string
}

func (a answer) refused() bool { return a.err != nil || len(a.warnings) > 0 }

func (s *apiServer) ask(t testing.TB, r request) answer {
	t.Helper()
	kinds, _, err := scheme.Scheme.ObjectKinds(r.object)
	if err != nil {
		t.Fatal(err)
	}
	kind := kinds[0]
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	m, err := meta.Accessor(r.object)
	if err != nil {
		t.Fatal(err)
	}
	operation := admission.Create
	var options runtime.Object = &metav1.CreateOptions{}
	if r.old != nil {
		operation, options = admission.Update, &metav1.UpdateOptions{}
	}
	attributes := admission.NewAttributesRecord(r.object, r.old, kind, m.GetNamespace(), m.GetName(), resource, r.subresource, operation, options, false, &user.DefaultInfo{Name: "somebody"})
	var w warnings
	err = s.plugin.Validate(warning.WithWarningRecorder(context.Background(), &w), attributes, admission.NewObjectInterfacesFromScheme(scheme.Scheme))
	if err != nil && !strings.Contains(err.Error(), "mountward refuses mount") {
		t.Fatalf("not a refusal: %v", err)
	}
	return answer{err, w.all}
}

type warnings struct {
	mu  sync.Mutex
	all []string
}

func (w *warnings) AddWarning(_, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, text)
}
