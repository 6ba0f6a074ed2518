//go:build !faults

package main

// fault is where the build with the tag "faults" goes wrong on purpose.
func (*daemon) fault(handler) {}
