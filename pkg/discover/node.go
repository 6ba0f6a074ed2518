package discover

import (
	"context"
	"errors"

	"github.com/mountward/mountward/pkg/hostview"
)

// Files reads the files of a mount namespace; nothing in it hangs. A path that
// leads nowhere is an error matching fs.ErrNotExist. *hostview.View is one.
type Files interface {
	Canonical(ctx context.Context, path string) (string, error)
	ReadFile(ctx context.Context, path string, limit int) ([]byte, error)
	ReadDir(ctx context.Context, path string, limit int) ([]string, error)
}

// Node is where things are looked for.
type Node struct {
	Proc string // where procfs is mounted
	// User is who asks: where root has neither a kubelet nor a runtime, his are
	// the node's.
	User int
	// Files returns the files that a process sees, Table its mount table.
	Files func(pid int) (Files, error)
	Table func(pid int) (*hostview.Table, error)
}

// Settings are what somebody has said; "" is nothing.
type Settings struct {
	KubeletRoot  string
	RuntimeRoot  string
	RuntimeState string
}

// Find finds the kubelet and the runtime. What could not be read is in their
// Why. It does not wait for a process that does not answer.
func Find(ctx context.Context, n Node, s Settings) (Kubelet, Runtime) {
	procs := scan(ctx, n.Proc, patience)
	foreign := procs.others(ctx, n.Proc, patience, n.User)
	k := n.kubelet(ctx, s, procs)
	if foreign != "" && s.KubeletRoot == "" {
		k.because(errors.New(foreign))
	}
	r := n.runtime(ctx, s, procs, k)
	n.compareRoots(ctx, &k, r)
	return k, r
}
