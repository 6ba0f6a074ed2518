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
	type answer struct {
		found []held
		err   error
	}
	all := make([]answer, len(t.Processes))
	each(len(all), func(i int) {
		switch p := t.Processes[i]; {
		case p.Kernel || p.Thread != 0:
		case ctx.Err() != nil:
			all[i].err = errNotRead
		default:
			all[i].found, all[i].err = descriptorsOf(t.proc, p.PID)
		}
	})
	refused := 0
	var met error
	for i, a := range all {
		for _, h := range a.found {
			t.held(h)
		}
		if errors.Is(a.err, errNotRead) {
			t.unknown(fmt.Sprintf("descriptors of %d processes from %d on", len(all)-i, t.Processes[i].PID), ctx.Err())
			break
		}
		if a.err != nil && !linux.Gone(a.err) {
			refused++
			met = cmp.Or(met, a.err)
		}
	}
	if refused > 0 {
		what := "descriptors of 1 process"
		if refused > 1 {
			what = fmt.Sprintf("descriptors of %d processes", refused)
		}
		t.unknown(what, met)
	}
}

// held is a hold on the namespace with the inode number.
type held struct {
	inode uint64
	by    Hold
}

func descriptorsOf(proc string, pid int) (found []held, err error) {
	task, err := linux.OpenProcTask(proc, strconv.Itoa(pid))
	if err != nil {
		return nil, err
	}
	defer task.Close()
	err = task.Descriptors("mnt:[", maxDescriptors, func(fd int, link string) {
		if inode, ok := inodeOf(link); ok {
			found = append(found, held{inode, Hold{PID: pid, FD: fd}})
		}
	})
	return found, err
}

func (t *taking) held(h held) {
	n := t.namespace(h.inode)
	n.Holds = append(n.Holds, h.by)
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
		var found []held
		t.each(ctx, todo, workers, func(n *Namespace, table *hostview.Table, err error) {
			if err != nil {
				if !errors.Is(err, ErrGone) {
					t.unknown(fmt.Sprintf("bind mounts of namespaces in %s", n), err)
				}
				return
			}
			t.keep(n, table)
			for e := range table.All() {
				if e.FSType != "nsfs" {
					continue
				}
				if inode, ok := inodeOf(e.Root); ok {
					found = append(found, held{inode, Hold{Path: e.MountPoint, In: n.Inode}})
				}
			}
		})
		for _, b := range found {
			t.held(b)
		}
	}
}
