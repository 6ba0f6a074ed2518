//go:build linux

package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// Main is TestMain for tests that use a node: it builds the programs, isolates
// the tests and runs them. Without root they run as they are, and New skips.
//
// The programs are built outside: inside, /run is empty, and with it the
// resolver's configuration of many machines, so modules could not be fetched.
func Main(m *testing.M, cover ...string) {
	if os.Geteuid() == 0 && !Isolated() {
		_, err := Build(os.Stderr)
		for _, version := range []string{OldNRI, NewNRI} {
			_, other := Adaptation(os.Stderr, version)
			err = errors.Join(err, other)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "harness:", err)
			os.Exit(1)
		}
	}
	if err := Isolate(cover...); err != nil && !errors.Is(err, ErrNeedsRoot) {
		fmt.Fprintln(os.Stderr, "harness:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// NeedsRoot skips a test that runs without root.
func NeedsRoot(tb testing.TB) {
	tb.Helper()
	if os.Geteuid() != 0 {
		tb.Skip("needs root")
	}
}

// Suite is a node for a test: each of its methods fails the test at once where
// that of the node gives an error.
type Suite struct {
	*Node
	tb testing.TB
}

// New starts a node that is stopped with the test. A test that fails shows the
// end of containerd's log.
func New(tb testing.TB, cfg Config) *Suite {
	tb.Helper()
	NeedsRoot(tb)
	n, err := Start(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("end of containerd's log:\n%s", n.LogTail())
		}
		if err := n.Stop(); err != nil {
			tb.Errorf("stop node: %v", err)
		}
	})
	return &Suite{Node: n, tb: tb}
}

// In is the same node for a subtest.
func (s *Suite) In(tb testing.TB) *Suite { return &Suite{Node: s.Node, tb: tb} }

// ctx is valid for the test and its cleanup.
func (s *Suite) ctx() context.Context { return context.WithoutCancel(s.tb.Context()) }

// Run runs a pod, which is removed with the test.
func (s *Suite) Run(p Pod) *Sandbox {
	s.tb.Helper()
	sandbox := check(s.RunPod(s.ctx(), p))(s.tb)
	s.tb.Cleanup(func() {
		if err := s.RemoveSandbox(s.ctx(), sandbox.ID); err != nil {
			s.tb.Errorf("remove pod %s: %v", sandbox.Pod.Name, err)
		}
	})
	return sandbox
}

// RunOne runs a pod of one container, and returns the id of that.
func (s *Suite) RunOne(c Container) string {
	s.tb.Helper()
	if c.Name == "" {
		c.Name = "main"
	}
	return s.Run(Pod{Containers: []Container{c}}).Containers[c.Name]
}

// Output is what a command of the agent prints in a container.
func (s *Suite) Output(id string, args ...string) string {
	s.tb.Helper()
	return check(s.Exec(s.ctx(), id, args...))(s.tb)
}

// Table is the mount table of a container.
func (s *Suite) Table(id string) Mounts {
	s.tb.Helper()
	return check(s.ContainerMountinfo(s.ctx(), id))(s.tb)
}

// OCI is what runc was given for a container.
func (s *Suite) OCI(id string) *specs.Spec {
	s.tb.Helper()
	return check(s.Spec(id))(s.tb)
}

// TestHostDirs makes host directories that are unmounted with the test.
func TestHostDirs(tb testing.TB) *HostDirs {
	tb.Helper()
	NeedsRoot(tb)
	h := check(NewHostDirs(tb.TempDir()))(tb)
	tb.Cleanup(func() {
		if err := h.Close(); err != nil {
			tb.Errorf("unmount host directories: %v", err)
		}
	})
	return h
}

// check turns a result with an error into one that fails a test.
func check[T any](v T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}
