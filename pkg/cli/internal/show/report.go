package show

import (
	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/volumes"
)

// VolumesSchema names the JSON of Volumes.
const VolumesSchema = "mountward.volumes/v1"

// Volumes is what the verb "volumes" found.
type Volumes struct {
	Schema  string            `json:"schema"`
	Node    Node              `json:"node"`
	Targets []Target          `json:"targets"` // what was asked for by path or device
	Tasks   []Task            `json:"tasks"`
	Marks   []volumes.Mark    `json:"marks"`
	Unknown []volumes.Unknown `json:"unknown"`
}

// Node is where the tasks were looked for.
type Node struct {
	Kernel          string   `json:"kernel,omitempty"` // its release
	KubeletRoot     string   `json:"kubelet_root"`
	KubeletEvidence string   `json:"kubelet_root_evidence"`
	States          []string `json:"states"` // state directories of containerd
	Rung            string   `json:"rung"`   // of the host view
}

// Target is a path or device of the host, whoever uses it.
type Target struct {
	Target  string           `json:"target"`
	Mount   *facts.HostMount `json:"mount,omitempty"` // that covers the path
	Storage *volumes.Storage `json:"storage,omitempty"`
	Why     string           `json:"why,omitempty"` // what could not be told
}

// Task is one container.
type Task struct {
	Container audit.Container `json:"container"`
	Namespace string          `json:"namespace"` // of containerd
	Bundle    string          `json:"bundle"`
	Sandbox   bool            `json:"sandbox"`
	Known     bool            `json:"known"` // what mountward decided is known
	Identity  facts.Answer    `json:"identity"`
	volumes.Task
}

// TaskOf returns what is printed of a member.
func TaskOf(m volumes.Member) Task {
	return Task{
		Container: audit.ContainerOf(m.Container), Namespace: m.Namespace, Bundle: m.Bundle.Dir,
		Sandbox: m.Sandbox, Known: m.Known, Identity: m.Identity, Task: m.Task,
	}
}
