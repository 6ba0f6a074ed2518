package volumes

import (
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/verify"
)

// Node is how the tasks of a node are found: by the bundles that the runtime
// keeps of its containers. The runtime itself is not asked and need not run.
type Node struct {
	View        *hostview.View
	Devices     Devices
	KubeletRoot string
	States      []string // state directories of containerd
	// StatesWhy says why containers can run below others, "" where these are
	// all there are.
	StatesWhy   string
	RuntimeRoot string
	// Decided returns what was decided of a container, if anything is known.
	// nil: nothing is known of any, and DecidedWhy says why that cannot be read.
	// It is called by several goroutines.
	Decided    func(id string) (Decided, bool, error)
	DecidedWhy string
}

// Decided is what was decided of a container at its creation.
type Decided struct {
	Container facts.Container
	Outcomes  []facts.Outcome
}

// Survey is what was found on a node at one time.
type Survey struct {
	Members []Member
	Marks   []Mark
	// Unknown is what could not be read, each with its reason.
	Unknown []Unknown
}

// Member is one container of a node.
type Member struct {
	Container facts.Container
	Namespace string // of containerd: "k8s.io"
	Bundle    hostview.Bundle
	Sandbox   bool         // the pod's own container, which holds its namespaces
	Known     bool         // Outcomes are what mountward decided; else what the specification asks for
	KnownWhy  string       // why that cannot be told: what was decided cannot be read
	Identity  facts.Answer // is the process the container's?
	Ended     bool         // it has no process (any more), which Identity says
	Outcomes  []facts.Outcome
	Proofs    []verify.Proof
	Task
}

// The codes of marks.
const (
	MarkOrphanRootfs = "orphan-rootfs" // the root filesystem of a task that is not there
	MarkNoSuchPod    = "no-such-pod"   // a mount at a path of a pod that has no task here
	MarkOutside      = "outside-host"  // a device mounted in a container and nowhere in the host view
	MarkTwin         = "twin-view"     // a superblock that is mounted at unrelated places of the host
)

// Mark is something about the node's mounts that a person should look at.
type Mark struct {
	Code     string   `json:"code"`
	Path     string   `json:"path"`
	Why      string   `json:"why"`
	Evidence []string `json:"evidence,omitempty"` // lines of mountinfo
	Backing
}

// Unknown is something that could not be read.
type Unknown = facts.Unread
