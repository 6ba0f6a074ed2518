//go:build linux

// Package guest is the tests that run inside the virtual machine of test/node,
// as root, under systemd, beside containerd.service and mountward.service.
package guest
