package doctor

// effect says which propagation of a pod's volume mounts fails or does nothing.
func effect(code string, at looked) string {
	switch code {
	case CodeNotShared:
		return "Bidirectional and HostToContainer fail when the container is made: " +
			`"path ` + word(at.path) + ` is mounted on ` + word(at.mount.MountPoint) + ` but it is not a shared mount" (or "a shared or slave mount"); ` +
			"without either, a container keeps what is mounted at its start and sees nothing later"
	case CodeSlaveOnly:
		return "HostToContainer works; Bidirectional fails when the container is made, and what a container would mount could not reach the host"
	case CodeDownstreamOnly:
		return "every check passes, because the word shared is there; but mounts made here, by Bidirectional containers too, never reach the host"
	case CodeNotLinked:
		return "every check passes; but mounts made here do not reach the host, and the host's do not arrive here"
	default:
		return ""
	}
}
