package facts

// Propagation is what a mount of an OCI specification asks for. The plain and
// the recursive spelling of an option count as the same ("shared" is judged as
// "rshared"): runc applies both, and a rule about one must not be slipped past
// with the other.
type Propagation uint8

// The propagations a mount can ask for. Unset means that the mount carries no
// propagation option and inherits what the container's rootfsPropagation
// leaves. The values from Private to Shared are ordered by what they let
// through.
const (
	Unset Propagation = iota
	Unbindable
	Private
	Slave
	Shared
)

// String returns the word policies use: "private", "slave", "shared",
// "unbindable" or "unset".
func (p Propagation) String() string {
	switch p {
	case Private:
		return "private"
	case Slave:
		return "slave"
	case Shared:
		return "shared"
	case Unbindable:
		return "unbindable"
	default:
		return "unset"
	}
}

// Option returns the recursive OCI mount option ("rslave"), and "" for Unset.
func (p Propagation) Option() string {
	if p == Unset {
		return ""
	}
	return "r" + p.String()
}

// Kubernetes returns the value of a pod's mountPropagation that makes this
// request, and "" where Kubernetes has none.
func (p Propagation) Kubernetes() string {
	switch p {
	case Private:
		return "None"
	case Slave:
		return "HostToContainer"
	case Shared:
		return "Bidirectional"
	default:
		return ""
	}
}

// MarshalText writes the policy word.
func (p Propagation) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what MarshalText wrote; any other text is Unset.
func (p *Propagation) UnmarshalText(text []byte) error {
	*p, _ = ParseOption(string(text))
	return nil
}

// ParseOption returns the propagation that an OCI mount option names in either
// spelling, and false if it names none.
func ParseOption(option string) (Propagation, bool) {
	switch option {
	case "private", "rprivate":
		return Private, true
	case "slave", "rslave":
		return Slave, true
	case "shared", "rshared":
		return Shared, true
	case "unbindable", "runbindable":
		return Unbindable, true
	default:
		return Unset, false
	}
}

// Requested returns what the options of one mount come to. runc applies every
// propagation word in the order given, and the kernel cannot give back what an
// earlier word cut: a private mount made slave stays private, a slave made
// shared gets a group of its own and still receives only. So [rprivate rslave]
// is Private and [rslave rshared] is Slave; [rprivate rshared] has a group that
// reaches nobody, which is judged as Private. Source: runc 1.5.3
// libcontainer/rootfs_linux.go; all pairs measured on Linux 6.18.
func Requested(options []string) Propagation {
	result := Unset
	for _, option := range options {
		word, ok := ParseOption(option)
		switch {
		case !ok:
		case result == Unset, word == Unbindable, word.Reach() < result.Reach():
			result = word
		case result == Unbindable && word != Slave:
			result = Private
		}
	}
	return result
}

// Words counts the propagation options of a mount. More than one is never
// what its author meant; see Requested.
func Words(options []string) int {
	n := 0
	for _, option := range options {
		if _, ok := ParseOption(option); ok {
			n++
		}
	}
	return n
}

// Reach orders propagations by what they let through: nothing, mounts of the
// host, mounts both ways. Unset has the reach of Slave, the most that a
// runtime's default rootfsPropagation leaves a mount without a word.
func (p Propagation) Reach() int {
	switch p {
	case Shared:
		return 2
	case Slave, Unset:
		return 1
	default:
		return 0
	}
}
