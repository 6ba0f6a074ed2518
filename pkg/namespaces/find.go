package namespaces

import (
	"context"
	"os"
	"strconv"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// find looks for a process that has come to be in the namespace since the
// census, such as the child of one that has ended; 0 is none.
func (c *Census) find(ctx context.Context, n *Namespace) (int, error) {
	dir, err := os.Open(c.proc)
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	names, err := linux.ReadNames(dir, maxProcesses)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if ctx.Err() != nil {
			break
		}
		task, err := linux.OpenProcTask(c.proc, name)
		if err != nil {
			continue
		}
		in := inNamespace(task, n)
		_ = task.Close()
		switch {
		case in == unknown && n.root != "":
			if id, err := rootMount(c.proc, name); err == nil && id == n.root {
				return pid, nil
			}
		case in == yes && n.ID != 0:
			f, err := c.openFile(nil, c.proc+"/"+name+"/ns/mnt", n)
			if err != nil {
				continue // the number is another's by now
			}
			_ = f.Close()
			return pid, nil
		case in == yes:
			return pid, nil
		}
	}
	return 0, ctx.Err()
}
