package manifest

import "go.yaml.in/yaml/v3"

// What follows is what of the Kubernetes API matters for mounts. Source:
// kubernetes 1.37 staging/src/k8s.io/api.

type object struct {
	APIVersion string      `yaml:"apiVersion"`
	Kind       string      `yaml:"kind"`
	Metadata   meta        `yaml:"metadata"`
	Spec       yaml.Node   `yaml:"spec"`
	Items      []yaml.Node `yaml:"items"`
}

type meta struct {
	Name         string            `yaml:"name"`
	GenerateName string            `yaml:"generateName"`
	Namespace    string            `yaml:"namespace"`
	UID          string            `yaml:"uid"`
	Labels       map[string]string `yaml:"labels"`
	Annotations  map[string]string `yaml:"annotations"`
}

// workload is the specification of what makes pods: a CronJob has JobTemplate.
type workload struct {
	Template    *template `yaml:"template"`
	JobTemplate *struct {
		Spec workload `yaml:"spec"`
	} `yaml:"jobTemplate"`
	Claims []struct {
		Metadata meta `yaml:"metadata"`
	} `yaml:"volumeClaimTemplates"` // of a StatefulSet
}

type template struct {
	Metadata meta    `yaml:"metadata"`
	Spec     podSpec `yaml:"spec"`
}

type podSpec struct {
	Containers       []container       `yaml:"containers"`
	Init             []container       `yaml:"initContainers"`
	Ephemeral        []container       `yaml:"ephemeralContainers"`
	Volumes          []volume          `yaml:"volumes"`
	HostUsers        *bool             `yaml:"hostUsers"`
	HostNetwork      bool              `yaml:"hostNetwork"`
	HostIPC          bool              `yaml:"hostIPC"`
	RuntimeClassName *string           `yaml:"runtimeClassName"`
	AutomountToken   *bool             `yaml:"automountServiceAccountToken"`
	NodeSelector     map[string]string `yaml:"nodeSelector"`
	OS               struct {
		Name string `yaml:"name"`
	} `yaml:"os"`
}

type container struct {
	Name            string        `yaml:"name"`
	Image           string        `yaml:"image"`
	Env             []variable    `yaml:"env"`
	EnvFrom         []yaml.Node   `yaml:"envFrom"`
	VolumeMounts    []volumeMount `yaml:"volumeMounts"`
	RestartPolicy   string        `yaml:"restartPolicy"`
	TerminationPath string        `yaml:"terminationMessagePath"`
	Security        struct {
		Privileged     bool `yaml:"privileged"`
		ReadOnlyRootfs bool `yaml:"readOnlyRootFilesystem"`
	} `yaml:"securityContext"`

	line int
}

// variable is one of the environment.
type variable struct {
	Name      string `yaml:"name"`
	Value     string `yaml:"value"`
	ValueFrom *struct {
		FieldRef *struct {
			FieldPath string `yaml:"fieldPath"`
		} `yaml:"fieldRef"`
	} `yaml:"valueFrom"`
}

// UnmarshalYAML keeps the line.
func (c *container) UnmarshalYAML(node *yaml.Node) error {
	type plain container
	c.line = node.Line
	return node.Decode((*plain)(c))
}

type volumeMount struct {
	Name              string  `yaml:"name"`
	MountPath         string  `yaml:"mountPath"`
	ReadOnly          bool    `yaml:"readOnly"`
	RecursiveReadOnly *string `yaml:"recursiveReadOnly"`
	Propagation       *string `yaml:"mountPropagation"`
	SubPath           string  `yaml:"subPath"`
	SubPathExpr       string  `yaml:"subPathExpr"`

	line  int
	other []string // keys that are not known here, such as misspelled ones
}

// UnmarshalYAML keeps the line, and the keys that say nothing here.
func (m *volumeMount) UnmarshalYAML(node *yaml.Node) error {
	type plain volumeMount
	m.line = node.Line
	for i := 0; i < len(node.Content) && node.Kind == yaml.MappingNode; i += 2 {
		switch key := node.Content[i].Value; key {
		case "name", "mountPath", "readOnly", "recursiveReadOnly", "mountPropagation", "subPath", "subPathExpr", "<<":
		default:
			m.other = append(m.other, key)
		}
	}
	return node.Decode((*plain)(m))
}

// volume is a volume of a pod with the one source that it has.
type volume struct {
	name, kind string
	source     source
	line       int
}

type source struct {
	Path   string `yaml:"path"`      // of hostPath
	Driver string `yaml:"driver"`    // of csi and flexVolume
	Claim  string `yaml:"claimName"` // of persistentVolumeClaim
	Medium string `yaml:"medium"`    // of emptyDir
}

// UnmarshalYAML takes the key beside the name for the kind.
func (v *volume) UnmarshalYAML(node *yaml.Node) error {
	v.line = node.Line
	var fields map[string]yaml.Node
	if err := node.Decode(&fields); err != nil {
		return err
	}
	for key, value := range fields {
		if key == "name" {
			if err := value.Decode(&v.name); err != nil {
				return err
			}
			continue
		}
		if value.Kind == yaml.ScalarNode && value.Tag == "!!null" {
			continue
		}
		if v.kind != "" {
			v.kind = severalKinds
			continue
		}
		v.kind = key
		if err := value.Decode(&v.source); err != nil {
			return err
		}
	}
	return nil
}

// orEmptyDir is what the API server makes of a volume without a kind.
func (v volume) orEmptyDir() volume {
	v.kind = orElse(v.kind, "emptyDir")
	return v
}

const severalKinds = "several kinds"
