package namespaces

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"syscall"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// unreadable finds the namespaces of the processes whose links we have no right
// to read. Their tables anybody can read, and a mount id is used once in the
// whole kernel: one mount in two tables proves that they are of one namespace.
func (t *taking) unreadable() {
	if len(t.closed) == 0 {
		return
	}
	ids := map[string][]int{} // of the processes, by the mount at "/"
	hidden, apart := 0, 0
	var met error
	for _, pid := range t.closed {
		id, err := rootMount(t.proc, t.taskOf(pid))
		switch {
		case err == nil:
			ids[id] = append(ids[id], pid)
		case linux.Gone(err), errors.Is(err, syscall.EINVAL): // it ended
		default:
			hidden++
			met = cmp.Or(met, err)
		}
	}
	for _, n := range t.Namespaces {
		if len(ids) == 0 {
			break
		}
		for _, pid := range n.PIDs[:min(len(n.PIDs), 3)] {
			if id, err := rootMount(t.proc, t.taskOf(pid)); err == nil && ids[id] != nil {
				n.root, n.PIDs = id, append(n.PIDs, ids[id]...)
				delete(ids, id)
				break
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		t.Namespaces = append(t.Namespaces, &Namespace{root: id, PIDs: ids[id]})
		apart += len(ids[id])
	}
	if hidden > 0 {
		t.unknown(fmt.Sprintf("the mount namespaces of %d processes", hidden), met)
	}
	if apart > 0 {
		t.unknown(fmt.Sprintf("the numbers of the mount namespaces of %d processes", apart),
			fmt.Errorf("%w; the mounts at their roots tell them apart", t.refuse))
	}
}

var errNoRoot = errors.New("it has no mount at /: its root directory is changed")

const maxRootLines = 1 << 20 // bytes

// rootMount returns the id of the first mount at "/" in the table of a task.
func rootMount(proc, name string) (string, error) {
	task, err := linux.OpenProcTask(proc, name)
	if err != nil {
		return "", err
	}
	defer task.Close()
	m, err := task.Open("mountinfo")
	if err != nil {
		return "", err
	}
	defer m.Close()
	id, err := rootIn(io.LimitReader(m, maxRootLines))
	if err != nil {
		return "", &fs.PathError{Op: "read", Path: proc + "/" + name + "/mountinfo", Err: err}
	}
	return id, nil
}

func rootIn(r io.Reader) (string, error) {
	lines := bufio.NewReaderSize(r, 8<<10)
	for {
		// The fields of interest are in front: a long line is passed over.
		line, err := lines.ReadSlice('\n')
		if fields := bytes.SplitN(line, []byte(" "), 6); len(fields) == 6 && string(fields[4]) == "/" {
			return string(fields[0]), nil
		}
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = lines.ReadSlice('\n')
		}
		if errors.Is(err, io.EOF) {
			return "", errNoRoot
		}
		if err != nil {
			return "", err
		}
	}
}
