package discover

// The sources, the strongest first.
const (
	FromSettings = "settings"
	FromProcess  = "process"       // a command line
	FromConfig   = "configuration" // of containerd, k3s or rke2, as far as a command line does not say
	FromSocket   = "socket"        // who listens on it
	FromMounts   = "live mounts"   // below */pods/<uid>/volumes/kubernetes.io~*; of containerd, its shims
	FromTable    = "distribution"  // of known places, one that exists
	FromDefault  = "default"
)

// Source is what one source says.
type Source struct {
	From     string `json:"from"`
	Value    string `json:"value"`
	Evidence string `json:"evidence"`
}

// Kubelet is the kubelet of the node.
type Kubelet struct {
	Root      string // as configured
	Canonical string // without symbolic links; "" where that cannot be told
	PID       int    // 0: no process was found
	Chosen    Source
	Sources   []Source // all that said something, the strongest first
	Disagree  []string // where they contradict each other, one sentence each
	Why       string   // what could not be read

	// Bound is the directory that is bind-mounted at the root, "" where none is.
	Bound string
	// Live are the directories that have a kubelet's volumes mounted below
	// them, the one with the most first.
	Live []Live
	// Endpoint is the socket that the kubelet was told to reach its runtime by;
	// "" where its command line does not say.
	Endpoint string
	// Passed are processes with the name of one that runs a kubelet that are
	// not the host's.
	Passed []string
}

// Live is a directory that has the shape of a kubelet's root, by the volumes
// that are mounted below it.
type Live struct {
	Root    string
	Volumes int
	Pods    int
	Line    string // of mountinfo, one of them
}

// The names of runtimes.
const (
	Containerd = "containerd"
	CRIO       = "cri-o"
	Dockerd    = "dockerd" // behind cri-dockerd
)

// The names of distributions that have a containerd of their own.
const (
	K3s      = "k3s"
	RKE2     = "rke2"
	K0s      = "k0s"
	MicroK8s = "MicroK8s"
	Docker   = "docker"
)

// Runtime is the runtime of the node. State, Root and Config are those of a
// containerd.
type Runtime struct {
	Name   string // Containerd where nothing else is known to run
	PID    int    // 0: none was found
	Shim   int    // a process of a containerd's shim, in the mount namespace of its containers; 0: none was found
	Socket string // of its API
	State  string
	Root   string
	// Distribution is whose containerd it is by its command line, socket or state
	// directory: Containerd where it is nobody else's.
	Distribution string
	Config       string // the file it was started with, or its default
	Version      string // "v2.4.2", "1.x" where no more is known, "" where nothing is
	// VersionEvidence is what tells the version, or why it is not known.
	VersionEvidence string
	Chosen          Source
	Sources         []Source
	Disagree        []string
	Why             string
	Passed          []string // as those of the kubelet
}
