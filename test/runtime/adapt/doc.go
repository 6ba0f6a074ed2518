//go:build linux

// Package adapt is the runtime's side of NRI without a runtime: NRI's own
// adaptation, in the version that containerd has, which launches real plugins,
// takes connections, and sends them what a test wants to send. With it, what a
// plugin answers becomes an OCI spec exactly as in containerd.
//
// It needs neither root nor containerd, makes no container, and sends thousands
// of events a second.
package adapt
