package namespaces

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux"
)

const maxDescriptors = 1 << 20 // of one process

// descriptors looks for namespaces that a descriptor holds. Only links are
// read.
func (t *taking) descriptors(ctx context.Context) {
	refused := 0
	var met error
	for i, p := range t.Processes {
		if p.Kernel || p.Thread != 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			t.unknown(fmt.Sprintf("descriptors of %d processes from %d on", len(t.Processes)-i, p.PID), err)
			return
		}
		if err := t.descriptorsOf(p.PID); err != nil && !linux.Gone(err) {
			refused++
			met = cmp.Or(met, err)
		}
	}
	if refused > 0 {
		t.unknown(fmt.Sprintf("descriptors of %d processes", refused), met)
	}
}

func (t *taking) descriptorsOf(pid int) error {
	task, err := linux.OpenProcTask(t.proc, strconv.Itoa(pid))
	if err != nil {
		return err
	}
	defer task.Close()
	return task.Descriptors("mnt:[", maxDescriptors, func(fd int, link string) {
		if inode, ok := inodeOf(link); ok {
			t.held(inode, Hold{PID: pid, FD: fd})
		}
	})
}

func (t *taking) held(inode uint64, h Hold) {
	n := t.namespace(inode)
	n.Holds = append(n.Holds, h)
}

// inodeOf reads "mnt:[INODE]".
func inodeOf(link string) (uint64, bool) {
	number, ok := strings.CutPrefix(link, "mnt:[")
	number, closed := strings.CutSuffix(number, "]")
	inode, err := strconv.ParseUint(number, 10, 64)
	return inode, ok && closed && err == nil && inode != 0
}

// binds looks in all tables for bind mounts of namespaces, and in those of the
// namespaces that it finds.
func (t *taking) binds(ctx context.Context) {
	searched := map[*Namespace]bool{}
	for {
		t.sort()
		var todo []*Namespace
		for _, n := range t.Namespaces {
			if !searched[n] {
				searched[n] = true
				todo = append(todo, n)
			}
		}
		if len(todo) == 0 {
			return
		}
		type bind struct {
			inode uint64
			hold  Hold
		}
		var found []bind
		t.each(ctx, todo, 2, func(n *Namespace, table *hostview.Table, err error) {
			if err != nil {
				if !errors.Is(err, ErrGone) {
					t.unknown(fmt.Sprintf("bind mounts of namespaces in %s", n), err)
				}
				return
			}
			for e := range table.All() {
				if e.FSType != "nsfs" {
					continue
				}
				if inode, ok := inodeOf(e.Root); ok {
					found = append(found, bind{inode, Hold{Path: e.MountPoint, In: n.Inode}})
				}
			}
		})
		for _, b := range found {
			t.held(b.inode, b.hold)
		}
	}
}
