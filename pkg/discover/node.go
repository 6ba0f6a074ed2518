package discover

import (
	"context"

	"github.com/mountward/mountward/pkg/hostview"
)

// Files reads the files of a mount namespace; nothing in it hangs. A path that
// leads nowhere is an error matching fs.ErrNotExist. *hostview.View is one.
type Files interface {
	Canonical(ctx context.Context, path string) (string, error)
	ReadFile(ctx context.Context, path string, limit int) ([]byte, error)
}

// Node is where things are looked for.
type Node struct {
	Proc string // where procfs is mounted
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
	k := n.kubelet(ctx, s, procs)
	r := n.runtime(ctx, s, procs, k)
	n.compareRoots(ctx, &k, r)
	return k, r
}
