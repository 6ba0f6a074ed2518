package namespaces

import (
	"context"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// owners asks the namespaces' own files for what the kernel's list told of
// those in it: the number for statmount(2) and the user namespace.
func (t *taking) owners(ctx context.Context) {
	if _, err := linux.MountNamespace(t.proc, "self"); err != nil {
		return // no procfs
	}
	for _, n := range t.Namespaces {
		if n.Inode == 0 || n.User != 0 {
			continue
		}
		f, err := t.open(ctx, n)
		if err != nil {
			continue // not known
		}
		if ns, err := linux.DescribeMountNS(f); err == nil {
			n.ID, n.User = ns.ID, ns.User
		}
		_ = f.Close()
	}
}
