package hostview

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// leave begins helpers that are stuck for so long, one in each mount.
func leave(t *testing.T, w *walker, age time.Duration, mounts ...uint64) (all []*helper) {
	t.Helper()
	for _, mount := range mounts {
		h, err := w.begin()
		if err != nil {
			t.Fatal(err)
		}
		h.mount, h.abandoned, h.began = mount, true, h.began.Add(-age)
		all = append(all, h)
	}
	return all
}

func upTo(first uint64, n int) (all []uint64) {
	for i := range n {
		all = append(all, first+uint64(i))
	}
	return all
}

// typed is a walker where mounts from 100 are of nfs4, from 200 of fuse, from
// 300 of ext4, and of others the type is not found.
func typed(asked *[]uint64) *walker {
	w := newWalker(nil, 0, time.Second)
	w.typeOf = func(mount uint64) mountType {
		*asked = append(*asked, mount)
		switch mount / 100 {
		case 1:
			return mountType{name: "nfs4"}
		case 2:
			return mountType{name: "fuse"}
		case 3:
			return mountType{name: "ext4", disk: true}
		}
		return mountType{}
	}
	return w
}

func TestAMountIsNotEnteredWhereTooManyOfItsTypeAreStuck(t *testing.T) {
	const long, short = time.Minute, 0
	for _, test := range []struct {
		name  string
		stuck []uint64
		age   time.Duration
		into  uint64
		want  string // "" to enter it
	}{
		{"three of the type", upTo(100, 3), long, 150, ""},
		{"four of the type", upTo(100, 4), long, 150, "4 mounts of nfs4 do not answer already"},
		{"four that wait for less long than we would", upTo(100, 4), short, 150, ""},
		{"four of another type", upTo(100, 4), long, 250, ""},
		{"two of each", append(upTo(100, 2), upTo(200, 2)...), long, 250, ""},
		{"four helpers in three mounts", append(upTo(100, 3), 100), long, 150, ""},
		{"four of a type that is not known", upTo(900, 4), long, 950, "4 mounts of a type that is not known do not answer already"},
		{"four of them, and a type that is known", upTo(900, 4), long, 150, ""},
		{"many of the node's disks", upTo(300, maxDisks-1), long, 350, ""},
		{"too many disks", upTo(300, maxDisks), long, 350, "16 mounts of ext4 do not answer already"},
		{"too many disks, and a server", upTo(300, maxDisks), long, 150, ""},
		{"the same mount", upTo(100, 1), long, 100, errStuck.Error()},
		{"the same mount among too many", upTo(100, 4), long, 101, errStuck.Error()},
	} {
		var asked []uint64
		w := typed(&asked)
		left := leave(t, w, test.age, test.stuck...)
		h, err := w.begin()
		if err != nil {
			t.Fatal(err)
		}
		err = w.enter(h, test.into)
		if (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
		if err != nil != (h.mount != test.into) {
			t.Errorf("%s: %v, and it is in %d", test.name, err, h.mount)
		}
		if len(test.stuck) < maxServed && len(asked) > 0 {
			t.Errorf("%s: the types of %v were asked for", test.name, asked)
		}
		if !errors.Is(err, errManyStuck) {
			continue
		}
		w.finish(left[0], outcome{})
		if err := w.enter(h, test.into); err != nil {
			t.Errorf("%s: %v after one answered", test.name, err)
		}
	}
}

// TestNoTypeTakesAllHelpers: not even where they all begin at one time, so that
// none is known to be stuck.
func TestNoTypeTakesAllHelpers(t *testing.T) {
	var asked []uint64
	w := typed(&asked)
	enter := func(mount uint64) error {
		h, err := w.begin()
		if err != nil {
			t.Fatal(err)
		}
		err = w.enter(h, mount)
		if err != nil {
			w.finish(h, outcome{err: err})
		}
		return err
	}
	for i := range uint64(maxHelpers) {
		err := enter(200 + i)
		if (err == nil) != (i < maxOfType) {
			t.Fatalf("helper %d: %v", i, err)
		}
		if err != nil && !strings.Contains(err.Error(), "32 questions are already waiting for mounts of fuse") {
			t.Errorf("helper %d: %v", i, err)
		}
	}
	for i := range uint64(maxHelpers - maxOfType) {
		if err := enter(300 + i); err != nil {
			t.Errorf("another type: %v", err)
		}
	}
}
