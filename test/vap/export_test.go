package vap

import (
	"testing"

	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/vap"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func vars() policy.Vars {
	return policy.Vars{KubeletRoot: "/var/lib/kubelet", RuntimeState: "/run/containerd", RuntimeRoot: "/var/lib/containerd"}
}

func exported(t testing.TB, text string) (*policy.Policy, []byte) {
	t.Helper()
	p, err := policy.Parse(policy.File{Name: "policy.toml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	e, err := vap.Export(p, vap.Options{Name: "mountward", Vars: vars()})
	if err != nil {
		t.Fatal(err)
	}
	return p, e.YAML(nil)
}

func TestX(t *testing.T) {
	_, y := exported(t, `version = 1
mode = "enforce"
default = "allow"
[[rule]]
name = "csi"
match.role = ["csi-node"]
match.source = ["${kubelet_root}/**"]
match.propagation = ["shared"]
action = "allow"
[[rule]]
name = "a\"'é\\u2028\u2028"
reason = "no\"'\\ é"
match.propagation = ["shared"]
match.namespace = ["d*"]
except.pod_labels = { app = "x", "b/c" = "y{z,w}?" }
except.source = ["/var/{a,b}/*"]
action = "deny"
`)
	s := startAPIServer(t, y)
	shared := corev1.MountPropagationBidirectional
	yes := true
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", SecurityContext: &corev1.SecurityContext{Privileged: &yes}, VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/x", MountPropagation: &shared}}}},
		Volumes:    []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/y"}}}},
	}}
	a := s.ask(t, request{object: pod})
	t.Log(a)
	pod.Namespace = "monitoring"
	t.Log(s.ask(t, request{object: pod}))
}
