package doctor

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/shell"
)

// remake is how a container takes over the host's propagation as it is now: it
// has to be made anew. Whether anything makes a pod anew that is deleted is not
// known on the node, so the command asks first.
func remake(c container) Fix {
	pod := c.Container.Pod
	f := Fix{What: "make the container anew: it takes over the host's propagation as it is now"}
	switch {
	case pod.Name == "" || pod.Namespace == "":
	case static(pod):
		f.What += "; its pod comes from a manifest on the node, and to delete it changes nothing: " +
			"move the manifest out of the kubelet's directory for them (staticPodPath, mostly /etc/kubernetes/manifests), wait until the pod is gone, and move it back"
	default:
		namespace, name := shell.Quote(pod.Namespace), shell.Quote(pod.Name)
		f.What += "; the command deletes its pod only where a controller makes it anew; without one it would be gone for good: keep its manifest, delete it, apply it again"
		f.Commands = []string{fmt.Sprintf("kubectl get pod -n %[1]s %[2]s -o jsonpath='{.metadata.ownerReferences[?(@.controller==true)].kind}' | grep -qvx Node && kubectl delete pod -n %[1]s %[2]s", namespace, name)}
	}
	return f
}

// static reports a pod from a manifest on the node: by its annotation, where that
// is known, else by its UID, which is the kubelet's hash of the manifest and has
// no dashes as the API server's have.
//
// Source: kubernetes pkg/kubelet/config/common.go applyDefaults.
func static(pod facts.Pod) bool {
	return pod.Static().Truth == facts.Yes || len(pod.UID) == 32 && !strings.Contains(pod.UID, "-")
}
