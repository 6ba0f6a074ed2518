package exposure

import (
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

// Report is who can reach some targets at one time.
type Report struct {
	Time    time.Time `json:"time"` // UTC, of the beginning
	Viewers []Viewer  `json:"viewers"`
	// Powers are the containers that reach something without a mount of it.
	Powers []Power `json:"powers"`
	// Namespaces is how many mount tables were searched, each a second time
	// where something was not found in it.
	Namespaces int `json:"namespaces_searched"`
	// Below is how many mounts of the host below the targets were asked about
	// with them: what is in a directory is also what is mounted there.
	Below   int                  `json:"mounts_below,omitempty"`
	Unknown []namespaces.Unknown `json:"unknown"`
}

// Reached reports whether anybody but the node itself reaches a target: its own
// pod does.
func (r Report) Reached() bool {
	for _, v := range r.Viewers {
		if !v.Node() {
			return true
		}
	}
	return false
}

// Viewer is somebody who reaches a target.
type Viewer struct {
	Who
	// Own answers whether all it reaches is its own: see Path.
	Own   facts.Answer `json:"own"`
	Paths []Path       `json:"paths"`
	// Omitted counts the paths that are not listed.
	Omitted int `json:"paths_omitted,omitempty"`
}

// Path is one place where a target, or a part of it, is reached.
type Path struct {
	Target string `json:"target"` // the name of what was asked for
	Path   string `json:"path"`   // in the mount namespace, or of the device node
	// Part is what of the target is there, below it, which can be mounted there;
	// "" for all of it.
	Part    string  `json:"part,omitempty"`
	Through Through `json:"through"`
	// Writable answers for this very mount and its superblock: what is mounted
	// below a read-only one can be writable.
	Writable facts.Answer `json:"writable"`
	// Remount answers for what is read-only whether that can be changed from
	// inside; nil for what is writable, and for the node itself.
	Remount *facts.Answer `json:"can_remount,omitempty"`
	// Own answers whether that is the pod's own: its volume, its root
	// filesystem, what the runtime made for it.
	Own   facts.Answer      `json:"own"`
	State *facts.MountState `json:"state,omitempty"` // of the mount; nil for a device
	// HostPath is where the host has, or had, what the mount was made from.
	HostPath string `json:"host_path,omitempty"`
	// Twin says that HostPath is another place than that of the target: the
	// same superblock is mounted there too, or the directories above are.
	Twin bool `json:"twin,omitempty"`
	// Deleted says that what is mounted has been removed from its directory
	// since, as a file can be that is still mounted.
	Deleted  bool       `json:"deleted,omitempty"`
	MountID  int        `json:"mount_id,omitempty"` // in mountinfo
	Evidence []Evidence `json:"evidence"`

	lower bool // a read-only layer of an overlay
}

// Evidence is what the kernel or a specification says, and a command that shows
// it.
type Evidence struct {
	Text string `json:"text"`
	Show string `json:"show,omitempty"`
}

// Through is how a target came into a mount namespace.
type Through struct {
	Kind string `json:"kind"`
	// Destination and Source are those of the mount that was asked for.
	Destination string `json:"destination,omitempty"`
	Source      string `json:"source,omitempty"`
	// Copy is how the mount is related to the host's: see the constants.
	Copy string `json:"copy,omitempty"`
}

// The kinds of Through: by the source of the mount that was asked for.
const (
	ThroughRootfs      = "rootfs"        // the root filesystem of the container
	ThroughHostRoot    = "host-root"     // "/"
	ThroughKubeletRoot = "kubelet-root"  // the root directory of the kubelet
	ThroughPods        = "pods"          // its directory of all pods
	ThroughPod         = "pod-directory" // of one pod, or what is in it
	ThroughVolume      = "volume"        // of a pod, or a sub-path of one
	ThroughPlugins     = "plugins"       // the kubelet's directory of drivers, or what is in it
	ThroughStaging     = "staging"       // where a CSI driver stages a volume
	ThroughHostPath    = "host-path"     // any other
	ThroughRuntime     = "runtime"       // what the runtime made for this pod: resolv.conf, hostname, shm
	ThroughOwn         = "container"     // no bind: a file system that was made for the container
	ThroughUnasked     = "not-asked"     // no mount of the specification: by a hook, or made since
	ThroughNamespace   = "namespace"     // of one that is no container: what it was made with
	ThroughDevice      = "device"        // a block device node

	// What a process has open, which no mount of its namespace shows.
	ThroughOpenDirectory = "open-directory" // all that is in it, and by ".." what is above
	ThroughOpenFile      = "open-file"
)

// How a mount is related to the host's.
const (
	CopyAsked   = "asked"           // the mount that was asked for
	CopyPrivate = "private"         // below it, a copy of its own: it stays when the host unmounts
	CopySlave   = "slave"           // below it, came along or arrived later; goes when the host unmounts
	CopyForeign = "slave-elsewhere" // as slave, of a peer group that is not the host's
	CopyShared  = "shared"          // below it, in the host's peer group
)

// Power is a container that reaches more than is mounted in it.
type Power struct {
	Who
	// Everything says that it can reach all of the node; else it reaches what
	// some processes of the node reach.
	Everything bool     `json:"everything"`
	Why        []string `json:"why"`
}
