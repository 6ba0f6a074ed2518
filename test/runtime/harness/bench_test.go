//go:build linux

package harness

import "testing"

// BenchmarkPod is a pod of one container, from nothing to running and away.
func BenchmarkPod(b *testing.B) {
	s := New(b, Config{})
	for b.Loop() {
		pod, err := s.RunPod(b.Context(), Pod{Containers: []Container{{}}})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.RemoveSandbox(b.Context(), pod.ID); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNode is a node, from nothing to ready and away.
func BenchmarkNode(b *testing.B) {
	NeedsRoot(b)
	for b.Loop() {
		n, err := Start(Config{})
		if err != nil {
			b.Fatal(err)
		}
		if err := n.Stop(); err != nil {
			b.Fatal(err)
		}
	}
}
