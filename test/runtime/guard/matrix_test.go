//go:build linux

package guard_test

import (
	"strings"
	"testing"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/matrix"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestMatrix runs every combination of source, request, rule and privilege, and
// looks at the kernel's table and at what really travels.
func TestMatrix(t *testing.T) {
	g := start(t, ward.Options{Policy: matrix.Policy})
	for _, row := range matrix.Rows() {
		t.Run(row.String(), func(t *testing.T) { g.in(t).matrixRow(row) })
	}
}

func (g *guard) matrixRow(r matrix.Row) {
	t := g.tb.(*testing.T)
	dir := r.Dir(harness.TestHostDirs(t))
	refused, _ := r.Want()
	id, err := g.tryOne(harness.Pod{
		Namespace: string(r.Rule),
		Containers: []harness.Container{{
			Name: "main", Privileged: r.Privileged,
			Mounts: []harness.ContainerMount{{HostPath: dir.Path, ContainerPath: "/data", Propagation: r.Asked}},
		}},
	})
	if refused != "" {
		if err == nil || !strings.Contains(err.Error(), refused) {
			t.Fatalf("error = %v, want one with %q", err, refused)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(dir, seen{g, id}); err != nil {
		t.Error(err)
	}
	g.never("drift", id)
}

// seen is a container as the rows look at it.
type seen struct {
	*guard
	id string
}

func (c seen) Table() (harness.Mounts, error) { return c.guard.Table(c.id), nil }
func (c seen) Sees(name string) (bool, error) { return c.sees(c.id, name), nil }

func (c seen) Mount(path string) error {
	_, err := c.Exec(c.tb.Context(), c.id, "mount-tmpfs", path)
	return err
}

func (c seen) Unmount(path string) error {
	_, err := c.Exec(c.tb.Context(), c.id, "umount", path)
	return err
}
