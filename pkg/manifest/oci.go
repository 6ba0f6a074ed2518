package manifest

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/mountward/mountward/pkg/facts"
)

// The forms of a file that holds an OCI specification.
const (
	FromSpec   = "OCI specification"
	FromCrictl = "crictl inspect"
)

// oci reads a document that is no object of Kubernetes: an OCI specification, or
// what crictl prints, of one container or of several.
func (r *reader) oci(node *yaml.Node) (is bool, err error) {
	node = resolved(node)
	switch {
	case node.Kind == yaml.SequenceNode:
		for _, item := range node.Content {
			ok, err := r.oci(item)
			if err == nil && !ok {
				err = errors.New("a list that is not what crictl inspect prints: want " + wanted)
			}
			if err != nil {
				return true, locate(item.Line, err)
			}
		}
		return true, nil
	case hasKey(node, "kind"):
		return false, nil
	case hasKey(node, "ociVersion"):
		return true, r.spec(FromSpec, facts.Container{}, node)
	case hasKey(node, "info") && hasKey(node, "status"):
		return true, r.crictl(node)
	default:
		return false, nil
	}
}

func (r *reader) spec(from string, c facts.Container, node *yaml.Node) error {
	if len(r.file.Subjects) == maxSubjects {
		return fmt.Errorf("more than %d containers in one file", maxSubjects)
	}
	var value any
	if err := decode(node, &value); err != nil {
		return err
	}
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("read specification: %w", err)
	}
	s := Subject{
		From: from, Kind: KindContainer, Container: c, Spec: text,
		Missing: []string{"pod_labels", "pod_annotations", "runtime_handler", "static_pod"},
		Unknown: []facts.Unread{{What: "labels and annotations of the pod, and whether it is static", Why: "they are not in a specification"}},
	}
	if r.options.Static {
		s.Container.Pod.Annotations = map[string]string{facts.AnnotationConfigSource: "file"}
		s.Missing, s.Unknown[0].What = s.Missing[:3], "labels and annotations of the pod"
	}
	r.file.Subjects = append(r.file.Subjects, s)
	return nil
}

// crictl reads what "crictl inspect" prints of one container.
func (r *reader) crictl(node *yaml.Node) error {
	var status struct {
		ID       string `yaml:"id"`
		Metadata struct {
			Name string `yaml:"name"`
		} `yaml:"metadata"`
		Image struct {
			Image     string `yaml:"image"`
			UserImage string `yaml:"userSpecifiedImage"`
		} `yaml:"image"`
		Labels map[string]string `yaml:"labels"`
	}
	if err := decode(member(node, "status"), &status); err != nil {
		return err
	}
	spec := member(member(node, "info"), "runtimeSpec")
	if spec == nil {
		return errors.New("no info.runtimeSpec in it: crictl inspect prints it of a container, and inspectp of a pod; with --quiet it does not")
	}
	return r.spec(FromCrictl, facts.Container{
		ID: status.ID, Name: status.Metadata.Name, Image: orElse(status.Image.UserImage, status.Image.Image), Labels: status.Labels,
		Pod: facts.Pod{
			Namespace: status.Labels["io.kubernetes.pod.namespace"], Name: status.Labels["io.kubernetes.pod.name"], UID: status.Labels["io.kubernetes.pod.uid"],
		},
	}, spec)
}
