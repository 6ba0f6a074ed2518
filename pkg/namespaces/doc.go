// Package namespaces lists every mount namespace of the node and says whose it
// is: which processes are in it, of which container, pod and systemd unit, and
// what else holds it. It reads their mount tables.
//
// Two rungs lead to the list. "kernel" (Linux 6.12) walks the kernel's own list,
// which has the namespaces that no process is in; "proc" reads the links of all
// tasks, and of the descriptors and bind mounts that hold a namespace. The kernel
// shows its list to root of the node only, and since 2026 only in the first pid
// namespace: a container has the rung "proc" unless it has the host's (hostPID).
package namespaces
