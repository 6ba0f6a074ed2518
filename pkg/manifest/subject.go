package manifest

import "github.com/mountward/mountward/pkg/facts"

// Options are what a file does not say.
type Options struct {
	Namespace    string // of pods whose manifest has none; "" is "default"
	Static       bool   // the pods are static ones, which the kubelet reads from disk
	KubeletRoot  string // "" is /var/lib/kubelet
	RuntimeRoot  string // "" is /var/lib/containerd
	RuntimeState string // "" is /run/containerd
}

// File is what a file holds.
type File struct {
	Subjects []Subject
	Passed   []string // objects, and why: "Service prod/web: it makes no pods"
	Warnings []Warning
}

// The kinds of containers of a pod.
const (
	KindContainer = "container"
	KindInit      = "init container"
	KindSidecar   = "sidecar container" // an init container that goes on
	KindEphemeral = "ephemeral container"
)

// Subject is one container of a file.
type Subject struct {
	From string // the object it is of: "Deployment prod/web"
	Kind string

	// Container is what the runtime will be asked for. Host and the like is for
	// who knows the node.
	Container facts.Container
	// Notes are about Container.Mounts, one each.
	Notes []Note
	// RootfsPropagation is what containerd will ask for, "" for its default.
	RootfsPropagation string

	// Unknown is what the file does not tell of the container.
	Unknown []facts.Unread
	// Missing are the keys of a policy whose facts are not known at all.
	Missing []string

	// Spec is an OCI specification as JSON, of a file that has one. Then there
	// are no mounts, and Container has what stands beside the specification.
	Spec []byte
}

// The makers of mounts that no volumeMounts asks for.
const (
	MadeByKubelet = "kubelet"
	MadeByRuntime = "runtime"
)

// Note is what is known of a mount beside what the runtime will be told.
type Note struct {
	MadeBy string // "" for a mount that the manifest asks for
	Volume string // as a person knows it: "emptyDir cache"
	// Kind and Driver are those of the volume, in the words of Kubernetes; "" where
	// the manifest does not show them. Only csi and flexVolume have a driver.
	Kind, Driver string
	// Under is the path of the host that a sub-path is bound from: the source is
	// the kubelet's bind mount of it. "" for others. Where not all of it is known,
	// Below is the directory that it is or lies in.
	Under, Below string
	// OnHost is set where the volume of a sub-path is a directory of the host's own
	// file systems.
	OnHost bool
	// Unknown says what the manifest does not show about the mount, and Others
	// what it may be as well: as far as a policy can tell them apart.
	Unknown string
	Others  []facts.Mount
}
