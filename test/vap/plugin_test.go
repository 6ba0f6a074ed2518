//go:build plugin

package vap

import (
	"context"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/json"
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
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	klog.LogToStderr(false) // the plugin tells of every refresh
	klog.SetOutput(io.Discard)
	os.Exit(m.Run())
}

// start starts the admission plugin of kube-apiserver.
func start(t *testing.T, p *admissionv1.ValidatingAdmissionPolicy, b *admissionv1.ValidatingAdmissionPolicyBinding) judge {
	t.Helper()
	t.Cleanup(generic.SetPolicyRefreshIntervalForTests(5 * time.Millisecond))
	defaults(p)
	objects := []runtime.Object{p, b}
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
	initializer.New(client, dynamicfake.NewSimpleDynamicClient(kinds), factory, authorizerfactory.NewAlwaysAllowAuthorizer(), featuregate.NewFeatureGate(),
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
	return func(ctx context.Context, t *testing.T, r request) answer {
		t.Helper()
		var w warnings
		err := plugin.Validate(warning.WithWarningRecorder(ctx, &w), r.attributes(t), admission.NewObjectInterfacesFromScheme(kinds))
		return answer{err, w.all}
	}
}

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

// typed is an object as the API server has it, with no key that it does not know.
func typed(t testing.TB, o map[string]any) runtime.Object {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	is, _, err := serializer.NewCodecFactory(kinds, serializer.EnableStrict).UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return is
}

func (r request) attributes(t testing.TB) admission.Attributes {
	t.Helper()
	object := typed(t, r.object)
	kind := object.GetObjectKind().GroupVersionKind()
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	var old runtime.Object
	var options runtime.Object = &metav1.CreateOptions{}
	if r.old != nil {
		old, options = typed(t, r.old), &metav1.UpdateOptions{}
	}
	return admission.NewAttributesRecord(object, old, kind, r.meta("namespace"), r.meta("name"), resource, r.subresource,
		admission.Operation(r.operation()), options, false, &user.DefaultInfo{Name: "somebody"})
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

type warnings struct {
	mu  sync.Mutex
	all []string
}

func (w *warnings) AddWarning(_, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, text)
}
