//go:build linux

// Package guest is the tests that run inside the virtual machine of test/node,
// as root, under systemd, beside containerd.service and mountward.service.
//
// Storage is built by a stack (stack_test.go), the kubelet's and CSI drivers'
// directories by kubelet_test.go, and both are taken down with the test that
// asked for them. TestMain fails where anything is left.
package guest
