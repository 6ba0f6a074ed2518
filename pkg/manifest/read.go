package manifest

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The most that is read of one file; none has as many.
const (
	maxSubjects = 5000
	maxMounts   = 1000 // of one container
)

// Read reads a file in whichever form it is: Kubernetes manifests in YAML or
// JSON, several documents and lists too, an OCI specification, or what "crictl
// inspect" prints. An error about a line of it is an *Error.
func Read(data []byte, o Options) (File, error) {
	if len(data) > MaxSize {
		return File{}, fmt.Errorf("larger than %d MiB", MaxSize>>20)
	}
	r := reader{options: o.complete(), left: maxNodes}
	texts, lines := split(data)
	for i, text := range texts {
		r.before = lines[i]
		n, err := parse(text)
		if err == nil && n != nil {
			err = r.document(n)
		}
		if err != nil {
			return File{}, at(err, lines[i])
		}
	}
	if len(r.file.Subjects) == 0 {
		return File{}, r.nothing()
	}
	return r.file, nil
}

func (o Options) complete() Options {
	o.Namespace = orElse(o.Namespace, "default")
	o.KubeletRoot = path.Clean(orElse(o.KubeletRoot, "/var/lib/kubelet"))
	o.RuntimeRoot = orElse(o.RuntimeRoot, "/var/lib/containerd")
	o.RuntimeState = orElse(o.RuntimeState, "/run/containerd")
	return o
}

type reader struct {
	options Options
	file    File
	left    int // of maxNodes
	before  int // lines of the file before this document
}

func (r *reader) document(n *yaml.Node) error {
	if err := spend(n, 0, &r.left); err != nil {
		return err
	}
	if ok, err := r.oci(n); ok || err != nil {
		return err
	}
	return r.object(n, "")
}

// nothing says why there is nothing to explain.
func (r *reader) nothing() error {
	if len(r.file.Passed) == 0 {
		return errors.New("it is empty: want " + wanted)
	}
	return fmt.Errorf("nothing in it makes pods of Linux nodes (%s): want %s", strings.Join(r.file.Passed[:min(3, len(r.file.Passed))], ", "), wanted)
}

const wanted = "a manifest of a Pod, Deployment, DaemonSet, StatefulSet, Job, CronJob, ReplicaSet, ReplicationController or List, an OCI specification (config.json), or what crictl inspect prints"

// object reads one object of the Kubernetes API; kind is what a list says of
// items that do not say it.
func (r *reader) object(node *yaml.Node, kind string) (err error) {
	defer func() { err = locate(node.Line, err) }()
	var o object
	if err := decode(node, &o); err != nil {
		return err
	}
	if o.Kind == "" {
		o.Kind = kind
	}
	group, _, grouped := strings.Cut(o.APIVersion, "/")
	if !grouped {
		group = ""
	}
	where := objectName(o, r.options)
	switch {
	case o.Kind == "":
		return errors.New("it has no kind: want " + wanted)
	case strings.HasSuffix(o.Kind, "List") && group == "" || o.Items != nil && strings.HasSuffix(o.Kind, "List"):
		for i := range o.Items {
			if err := r.object(&o.Items[i], strings.TrimSuffix(o.Kind, "List")); err != nil {
				return fmt.Errorf("item %d of the list: %w", i, err)
			}
		}
		return nil
	case makes(o.Kind) && (o.APIVersion == "" || makerGroup(o.Kind) == group):
		pods, err := podsOf(o)
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		if pods.windows() {
			r.file.Passed = append(r.file.Passed, where+": its pods are of Windows nodes")
			return nil
		}
		r.spelling(podSpecOf(o))
		return r.pod(where, pods)
	case podTemplate(node, 0):
		return fmt.Errorf("%s is of the API group %q, and has the template of a pod: its controller makes the pod, and can add mounts to it; explain the pod that was made instead: kubectl get pod NAME -o yaml", where, group)
	case passed(group, o.Kind):
		r.file.Passed = append(r.file.Passed, where+": it makes no pods")
		return nil
	default:
		return fmt.Errorf("%s: no such kind is known in the API group %q: want %s", where, group, wanted)
	}
}

// objectName is what a person calls an object.
func objectName(o object, options Options) string {
	name := o.Metadata.Name
	switch {
	case name == "" && o.Metadata.GenerateName != "":
		name = o.Metadata.GenerateName + "..."
	case name == "":
		name = "?"
	}
	if o.Metadata.Namespace == "" && !makes(o.Kind) {
		return o.Kind + " " + name
	}
	return o.Kind + " " + orElse(o.Metadata.Namespace, options.Namespace) + "/" + name
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// makes reports the kinds of Kubernetes that make pods.
func makes(kind string) bool {
	return kind == "Pod" || kind == "ReplicationController" || makerGroup(kind) != ""
}

// makerGroup is the API group of a kind that makes pods; "" is the first one.
func makerGroup(kind string) string {
	switch kind {
	case "Deployment", "DaemonSet", "StatefulSet", "ReplicaSet":
		return "apps"
	case "Job", "CronJob":
		return "batch"
	default:
		return ""
	}
}

// passed reports objects that make no pods: of Kubernetes' own groups, and of
// others, which are custom resources.
func passed(group, kind string) bool {
	switch group {
	case "":
		switch kind {
		case "ConfigMap", "Secret", "Service", "ServiceAccount", "Namespace", "Endpoints", "PersistentVolume", "PersistentVolumeClaim",
			"LimitRange", "ResourceQuota", "Node", "Event", "PodTemplate":
			return true
		}
		return false
	case "apps", "batch":
		return kind == "ControllerRevision"
	default:
		return true
	}
}

// podTemplate reports that somewhere below there are containers as a pod has
// them.
func podTemplate(n *yaml.Node, depth int) bool {
	if n.Kind == yaml.AliasNode || depth > maxDepth {
		return false
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "containers" && child.Kind == yaml.SequenceNode &&
			len(child.Content) > 0 && hasKey(child.Content[0], "name") && (hasKey(child.Content[0], "image") || hasKey(child.Content[0], "volumeMounts")) {
			return true
		}
		if podTemplate(child, depth+1) {
			return true
		}
	}
	return false
}

func hasKey(n *yaml.Node, key string) bool { return member(n, key) != nil }

// resolved is what a document or an alias stands for.
func resolved(n *yaml.Node) *yaml.Node {
	for n != nil {
		switch {
		case n.Kind == yaml.DocumentNode && len(n.Content) == 1:
			n = n.Content[0]
		case n.Kind == yaml.AliasNode:
			n = n.Alias
		default:
			return n
		}
	}
	return nil
}

// member returns the value of a key, nil where there is none.
func member(n *yaml.Node, key string) *yaml.Node {
	if n = resolved(n); n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
