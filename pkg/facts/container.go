package facts

// Labels and annotations the kubelet sets. The values of labels, names and
// namespaces are chosen by tenants; that of the config source is not, the
// kubelet sets it for every pod. Source: kubernetes 1.37 pkg/kubelet/types.
const (
	LabelContainerName     = "io.kubernetes.container.name"
	AnnotationConfigSource = "kubernetes.io/config.source"
)

// Pod is the pod of a container, as the runtime tells it.
type Pod struct {
	ID          string            `json:"id,omitempty"`
	Namespace   string            `json:"namespace,omitempty"`
	Name        string            `json:"name,omitempty"`
	UID         string            `json:"uid,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"-"`
	Runtime     string            `json:"runtime_handler,omitempty"`
}

// Static answers whether the pod comes from a manifest on the node's disk. No
// policy of ours may refuse such a pod: it can be the control plane.
func (p Pod) Static() Answer {
	source, ok := p.Annotations[AnnotationConfigSource]
	if !ok {
		return Is(false, "no annotation "+AnnotationConfigSource)
	}
	return Is(source == "file", AnnotationConfigSource+"="+source)
}

// Container is what a policy decides about.
type Container struct {
	ID            string            `json:"id"`
	Name          string            `json:"name,omitempty"`
	Image         string            `json:"image,omitempty"` // as the runtime names it; "" where it does not tell (before containerd 2.4)
	Labels        map[string]string `json:"-"`
	Pod           Pod               `json:"pod"`
	Mounts        []Mount           `json:"mounts"`
	Devices       []Device          `json:"-"` // a privileged container has all of the node
	Privileged    Answer            `json:"privileged"`
	UserNamespace bool              `json:"user_namespace,omitempty"`
	Role          string            `json:"role,omitempty"` // see Role
	Hazards       []Hazard          `json:"-"`              // of the mounts as asked; see package hazard
}

// Device is one device node of the container's OCI specification.
type Device struct {
	Path   string // in the container
	Type   string // "b" for a block device, "c" for a character device
	Number DeviceNumber
}

// Mount is one mount of the container's OCI specification, as asked, with what
// the host view knows of its source.
type Mount struct {
	Destination string   `json:"destination"` // as given, not cleaned
	Source      string   `json:"source,omitempty"`
	Type        string   `json:"type,omitempty"`
	Options     []string `json:"options,omitempty"`

	// Host is nil where the source could not be resolved; HostWhy then tells
	// why ("path is not cached and the helper did not answer in 50ms").
	Host    *HostMount `json:"host,omitempty"`
	HostWhy string     `json:"host_why,omitempty"`

	// Leads is what the source is known to lead to though it is not there yet, as of
	// a sub-path that the kubelet will bind. It counts where Host is nil.
	Leads Identity `json:"-"`

	// Actual is what is really mounted there in the running container; zero
	// before it exists.
	Actual Identity `json:"actual,omitzero"`

	// Volume is filled in where a policy asks for it; see VolumeOf.
	Volume Volume `json:"-"`

	// Storage is nil where nobody looked for it, which is always so before the
	// container runs: rules that ask for it are then not tried.
	Storage *Storage `json:"-"`
}

// Requested returns the propagation the mount asks for.
func (m Mount) Requested() Propagation { return Requested(m.Options) }

// Bind reports whether the mount has a host path as its source. Only binds
// propagate between host and container; proc, tmpfs and the like have a
// superblock of their own and are never judged.
func (m Mount) Bind() bool {
	return m.Type == "bind" || m.has("bind") || m.has("rbind")
}

// ReadOnly reports the option "ro"; of "ro" and "rw" the last counts.
func (m Mount) ReadOnly() bool { return lastOf(m.Options, "ro", "rw") == "ro" }

// RecursiveReadOnly reports the option "rro", a promise that propagation would
// break: mounts that arrive later are not read-only. containerd writes it in
// the place of "ro", not beside it (2.4.2 internal/cri/opts).
func (m Mount) RecursiveReadOnly() bool { return m.has("rro") }

// CleanDestination returns the destination the kernel will see, "/" joined for
// relative ones as runc does.
func (m Mount) CleanDestination() string {
	if p, ok := CleanAbs(m.Destination); ok {
		return p
	}
	p, _ := CleanAbs("/" + m.Destination)
	return p
}

func (m Mount) has(option string) bool {
	for _, o := range m.Options {
		if o == option {
			return true
		}
	}
	return false
}
