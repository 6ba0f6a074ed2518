package doctor

import (
	"errors"
	"fmt"
	"io"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/linux"
)

// settled reads a table until it has not changed while it was read: kernels
// before 5.8 can drop a line while others are unmounted, and a mount that is
// missing makes its paths be on another. The kernel tells of a change to who has
// the table open; where it says none, one reading is enough.
func settled(path string) (t *hostview.Table, err error) {
	info, err := linux.OpenMountinfo(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, info.Close()) }()
	t, err = settle(func() (*hostview.Table, error) { return readTable(info) }, info.Changed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// mostReadings bounds them: a table that never settles is believed.
const mostReadings = 4

// settle reads until nothing has changed, or two readings have the same mounts:
// those that came and went between them are nobody's.
func settle(read func() (*hostview.Table, error), changed func() (bool, error)) (*hostview.Table, error) {
	var last *hostview.Table
	for range mostReadings {
		t, err := read()
		if err != nil {
			return nil, err
		}
		// What cannot be asked can have changed.
		if is, err := changed(); err == nil && !is || last != nil && sameMounts(last, t) {
			return t, nil
		}
		last = t
	}
	return last, nil
}

func sameMounts(a, b *hostview.Table) bool {
	if a.Len() != b.Len() {
		return false
	}
	ids := make([]int, 0, a.Len())
	for e := range a.All() {
		ids = append(ids, e.ID)
	}
	i := 0
	for e := range b.All() {
		if e.ID != ids[i] {
			return false
		}
		i++
	}
	return true
}

// maxTable bounds a mount table, in bytes: a million mounts.
const maxTable = 1 << 30

var errTooLarge = fmt.Errorf("a mount table of more than %d bytes", maxTable)

func readTable(info *linux.Mountinfo) (*hostview.Table, error) {
	r, err := info.Rewind()
	if err != nil {
		return nil, err
	}
	limited := &io.LimitedReader{R: r, N: maxTable}
	t, err := hostview.ReadTable(limited)
	if err == nil && limited.N <= 0 { // one that is cut off would say that mounts are gone
		err = errTooLarge
	}
	return t, err
}
