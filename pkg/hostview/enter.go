package hostview

import (
	"errors"
	"fmt"
	"time"
)

const (
	// maxServed bounds the mounts of one type of file system in which helpers
	// are stuck: where that many servers do not answer, the next one, which
	// would be waited for as long, hardly does.
	maxServed = 4
	// maxDisks is for those on block devices: each can be of a disk of its
	// own, and what is on the node's must be answered.
	maxDisks = 16
	// maxOfType bounds all helpers in mounts of one type, so that no type takes
	// those of the others when many are asked at one time: not those of a
	// patient view either.
	maxOfType = maxHelpers / 2
)

// mountType is what mounts have in common that may not answer together. The
// zero value is that of those it was not found of.
type mountType struct {
	name string // as the kernel names it, without a subtype
	disk bool   // on a block device
}

func (t mountType) most() int {
	if t.disk {
		return maxDisks
	}
	return maxServed
}

func (t mountType) String() string {
	if t.name == "" {
		return "a type that is not known"
	}
	return t.name
}

// enter says where the helper is going to wait. A mount in which another one
// is stuck is not asked again, nor one of a type of which too many do not
// answer; who is ready to wait for longer than those have been, tries.
func (w *walker) enter(h *helper, mount uint64) error {
	types := map[uint64]mountType(nil)
	for {
		unknown, err := w.admit(h, mount, types)
		if err != nil || len(unknown) == 0 {
			return err
		}
		if types == nil {
			types = map[uint64]mountType{}
		}
		for _, id := range unknown { // not locked: it takes a system call
			types[id] = w.typeOf(id)
		}
	}
}

// admit lets the helper enter, or returns the mounts whose types must be known
// first: none as long as few helpers are stuck.
func (w *walker) admit(h *helper, mount uint64, types map[uint64]mountType) (unknown []uint64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	stuck := 0
	for other := range w.helpers {
		if !w.givenUp(other) || other == h {
			continue
		}
		if other.mount == mount {
			return nil, errStuck
		}
		stuck++
	}
	if stuck >= maxServed || len(w.helpers) > maxOfType {
		if unknown = w.missing(mount, types); len(unknown) > 0 {
			return unknown, nil
		}
		if err := w.crowded(h, mount, types); err != nil {
			return nil, err
		}
	}
	h.mount = mount
	return nil, nil
}

// givenUp reports a helper that was left behind and has been waiting for no
// less than we would.
func (w *walker) givenUp(h *helper) bool {
	return h.abandoned && time.Since(h.began) >= w.wait
}

func (w *walker) missing(mount uint64, types map[uint64]mountType) (unknown []uint64) {
	met := map[uint64]bool{0: true} // a helper that waits nowhere yet
	need := func(id uint64) {
		if _, ok := types[id]; !ok && !met[id] {
			unknown = append(unknown, id)
		}
		met[id] = true
	}
	need(mount)
	for other := range w.helpers {
		need(other.mount)
	}
	return unknown
}

var errManyStuck = errors.New("do not answer already")

// crowded says why no other helper may wait in a mount of this type.
func (w *walker) crowded(h *helper, mount uint64, types map[uint64]mountType) error {
	kind := types[mount]
	stuck := map[uint64]bool{}
	all := 0
	for other := range w.helpers {
		if other == h || other.mount == 0 || types[other.mount] != kind {
			continue
		}
		all++
		if w.givenUp(other) {
			stuck[other.mount] = true
		}
	}
	switch {
	case len(stuck) >= kind.most():
		return fmt.Errorf("%d mounts of %s %w", len(stuck), kind, errManyStuck)
	case all >= maxOfType:
		return fmt.Errorf("its file system would have to be asked, and %d questions are already waiting for mounts of %s", all, kind)
	}
	return nil
}
