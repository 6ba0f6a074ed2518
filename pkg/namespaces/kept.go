package namespaces

import "github.com/mountward/mountward/pkg/hostview"

// maxKept bounds the mounts of the tables that a census keeps together: some
// MiB. Those of a large node have millions.
const maxKept = 1 << 16

// Kept returns the table of a namespace as the census had to read it itself, if
// it did and the node is not too large: a first reading, which need not be done
// twice. It is as old as the census; Table reads the table now.
func (c *Census) Kept(n *Namespace) (*hostview.Table, bool) {
	return n.table, n.table != nil
}

// keep keeps a table where there is room.
func (t *taking) keep(n *Namespace, table *hostview.Table) {
	if t.kept+table.Len() <= maxKept {
		t.kept += table.Len()
		n.table = table
	}
}
