package workloads

import (
	"path"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// podUID is that of all pods of a table, so that an emptyDir is the pod's own.
const podUID = "11111111-2222-3333-4444-555555555555"

// mount makes the mount that the kubelet asks the runtime for. Some cells of
// the shipped table hold what their chart computes: a source without a path is
// an emptyDir or a directory of the chart's choice, and of several propagations
// or access modes the one that lets more through is taken, since a decision must
// be right for it too.
func (r row) mount(root string) (facts.Mount, error) {
	m := facts.Mount{Source: r.get("hostPath"), Destination: r.get("mountPath"), Type: "bind", Options: []string{"rbind"}}
	switch {
	case strings.HasPrefix(m.Source, "(emptyDir "):
		m.Source = root + "/pods/" + podUID + "/volumes/kubernetes.io~empty-dir/" + strings.Trim(m.Source[10:], ")")
	case strings.HasPrefix(m.Source, "<parent of the volume"):
		m.Source, m.Destination = "/opt/local-path-provisioner", "/opt/local-path-provisioner"
	case m.Source == "engine-binaries":
		m.Source = "/var/lib/longhorn/engine-binaries"
	}
	if !path.IsAbs(m.Source) {
		return m, wrong("hostPath", "hostPath %q is no absolute path", m.Source)
	}
	if rest, ok := strings.CutPrefix(m.Source, "/var/lib/kubelet"); ok && root != "" && (rest == "" || rest[0] == '/') {
		m.Source = root + rest
	}
	if !path.IsAbs(m.Destination) {
		m.Destination = "/" + m.Destination // as the runtime does
	}
	word, ok := propagation(r.get("mountPropagation"))
	if !ok {
		return m, wrong("mountPropagation", "mountPropagation %q is none of None, HostToContainer and Bidirectional", r.get("mountPropagation"))
	}
	mode, ok := map[string]string{"ro": "ro", "rw": "rw", "ro/rw": "rw"}[r.get("readOnly")]
	if !ok {
		return m, wrong("readOnly", "readOnly %q is neither ro nor rw", r.get("readOnly"))
	}
	if p := r.get("privileged"); p != "yes" && p != "no" {
		return m, wrong("privileged", "privileged %q is neither yes nor no", p)
	}
	if r.get("mountPropagation") == facts.Shared.Kubernetes() && r.get("privileged") == "no" {
		return m, wrong("mountPropagation", "the API server takes Bidirectional of privileged containers only")
	}
	m.Options = append(m.Options, word, mode)
	return m, nil
}

// propagation reads what a manifest says; nothing is None.
func propagation(cell string) (option string, ok bool) {
	switch cell {
	case "", facts.Private.Kubernetes():
		return facts.Private.Option(), true
	case facts.Slave.Kubernetes(), "value hostRootFsMount.mountPropagation", "value":
		return facts.Slave.Option(), true
	case facts.Shared.Kubernetes(), "HostToContainer (Bidirectional when privileged)":
		return facts.Shared.Option(), true
	default:
		return "", false
	}
}
