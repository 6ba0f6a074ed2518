//go:build linux

// Package harness runs a real containerd, alone, for tests and demonstrations.
//
// A program calls [Isolate] first: it continues in mount and pid namespaces of
// its own, and whatever it mounts, starts or writes there is gone when it ends,
// however it ends. Inside, [Start] brings up a [Node], which is containerd with
// its own directories, and runs pods on it through the CRI, as the kubelet
// would. Containerd, its shim and runc are built from the versions in go.mod.
//
// Everything returns errors; [New] and its [Suite] are the same for a test,
// which they fail instead.
//
// Nothing here knows mountward: a plugin is an executable that is put into the
// node's plugin directory.
package harness
