package doctor

// effect says which propagation of a pod's volume mounts fails or does nothing.
// What the runtime's check accepts counts: it can judge by another mount, and a
// container that passes fails nowhere.
func (n *node) effect(code string, at looked) string {
	check := n.verdict(at)
	const (
		unseen  = "; without either, a container keeps what is mounted at its start and sees nothing later"
		nothing = ", but no mount propagates: containers keep what is mounted at their start and see nothing later, and what they mount stays in them; nothing says so"
	)
	refusal := `: "path ` + word(at.path) + ` is mounted on ` + word(at.mount.MountPoint) + ` but it is not a shared mount"`
	switch code {
	case CodeNotShared:
		switch {
		case check.bidirectional:
			return "the runtime's check passes, by another mount" + nothing
		case check.hostToContainer:
			return "Bidirectional fails when the container is made; the runtime's check of HostToContainer passes, by another mount" + nothing
		default:
			return "Bidirectional and HostToContainer fail when the container is made" + refusal + ` (or "a shared or slave mount")` + unseen
		}
	case CodeSlaveOnly:
		const host = "what a container would mount could not reach the host"
		switch {
		case check.bidirectional:
			return "HostToContainer works; the runtime's check of Bidirectional passes, by another mount, but " + host + ": nothing says so"
		case check.hostToContainer:
			return "HostToContainer works; Bidirectional fails when the container is made, and " + host
		default:
			return "HostToContainer would work, but the runtime's check refuses it, by another mount; so it does Bidirectional, and " + host
		}
	case CodeDownstreamOnly:
		return "every check passes, because the word shared is there; but mounts made here, by Bidirectional containers too, never reach the host"
	case CodeNotLinked:
		return "every check passes; but mounts made here do not reach the host, and the host's do not arrive here"
	default:
		return ""
	}
}
