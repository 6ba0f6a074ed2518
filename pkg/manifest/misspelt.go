package manifest

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mountward/mountward/pkg/internal/strict"
)

// Warning is something in a file that is perhaps not meant.
type Warning struct {
	Line int // of the file, from 1
	Text string
}

// fields are the names of an object that count here, and others of Kubernetes that
// look like them.
type fields struct {
	what         string
	read, others []string
}

func podFields() fields {
	return fields{
		"the specification of a pod",
		[]string{"containers", "initContainers", "ephemeralContainers", "volumes", "hostUsers", "hostNetwork", "hostIPC", "runtimeClassName", "automountServiceAccountToken", "securityContext"},
		[]string{"hostPID", "hostname", "hostAliases"},
	}
}

func containerFields() fields {
	return fields{
		"a container",
		[]string{"name", "image", "env", "envFrom", "volumeMounts", "restartPolicy", "terminationMessagePath", "securityContext"},
		[]string{"args", "volumeDevices", "terminationMessagePolicy"},
	}
}

func securityFields() fields {
	return fields{"a securityContext", []string{"privileged", "readOnlyRootFilesystem"}, nil}
}

func volumeFields() fields {
	return fields{
		"a volume",
		[]string{
			"name", kindHostPath, "emptyDir", "configMap", "secret", "projected", "downwardAPI", "gitRepo", "nfs", "iscsi", "fc", "csi", "flexVolume", kindImage,
			kindClaim, kindEphemeral,
		},
		[]string{"rbd", "cephfs", "cinder"},
	}
}

// misspelt warns of keys that differ from a field that counts by the case or a letter
// or two. Others may be fields of a newer Kubernetes.
func (r *reader) misspelt(n *yaml.Node, f fields) {
	if n = resolved(n); n == nil || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Value == "<<" || slices.Contains(f.read, key.Value) || slices.Contains(f.others, key.Value) {
			continue
		}
		meant := strict.Nearest(key.Value, f.read)
		for _, name := range f.read {
			if strings.EqualFold(name, key.Value) {
				meant = name
			}
		}
		if meant != "" && len(r.file.Warnings) < maxWarnings {
			r.file.Warnings = append(r.file.Warnings, Warning{r.before + key.Line, fmt.Sprintf("%s has no field %q that is known here, and it is passed over: did you mean %q?", f.what, key.Value, meant)})
		}
	}
}

const maxWarnings = 100

// spelling warns of the misspelt keys of the specification of a pod.
func (r *reader) spelling(spec *yaml.Node) {
	r.misspelt(spec, podFields())
	items := func(key string) []*yaml.Node {
		if list := resolved(member(spec, key)); list != nil && list.Kind == yaml.SequenceNode {
			return list.Content
		}
		return nil
	}
	for _, c := range slices.Concat(items("initContainers"), items("containers"), items("ephemeralContainers")) {
		r.misspelt(c, containerFields())
		r.misspelt(member(c, "securityContext"), securityFields())
	}
	for _, v := range items("volumes") {
		r.misspelt(v, volumeFields())
	}
}

// podSpec finds the specification of the pods of an object.
func podSpecOf(o object) *yaml.Node {
	spec := &o.Spec
	if o.Kind == "CronJob" {
		spec = member(member(spec, "jobTemplate"), "spec")
	}
	if o.Kind != "Pod" {
		spec = member(member(spec, "template"), "spec")
	}
	return spec
}
