package spool

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

const suffix = ".spool"

// segment is one file of frames.
type segment struct {
	number  uint64
	file    *os.File // nil until it is needed
	size    int64    // of the frames that may be read
	onDisk  int64    // size of the file
	next    int64    // where the first frame begins that was not taken
	waiting int
}

func segmentName(number uint64) string { return fmt.Sprintf("%016d%s", number, suffix) }

// segmentNumber returns the number of a segment's name.
func segmentNumber(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	number, err := strconv.ParseUint(digits, 10, 64)
	return number, ok && err == nil && name == segmentName(number)
}

// open opens the file for reading and for marks. What is no file, or gone, is
// errDamaged; any other error may pass.
func (g *segment) open(dir *os.Root) error {
	if g.file != nil {
		return nil
	}
	name := segmentName(g.number)
	info, err := dir.Lstat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errors.Join(errDamaged, err)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &os.PathError{Op: "open", Path: name, Err: errDamaged}
	}
	g.file, err = dir.OpenFile(name, os.O_RDWR, 0)
	return err
}

func (g *segment) close() error {
	if g.file == nil {
		return nil
	}
	file := g.file
	g.file = nil
	return file.Close()
}

// scan counts the frames of a file that another process left. What does not
// end as a frame should is not read; the error is errDamaged then.
func (g *segment) scan(dir *os.Root) error {
	if err := g.open(dir); err != nil {
		return err
	}
	defer g.close()
	info, err := g.file.Stat()
	if err != nil {
		return err
	}
	g.onDisk = info.Size()
	first := int64(-1)
	for g.size < g.onDisk {
		var head header
		if head, err = readHeader(g.file, g.size, g.onDisk); err != nil {
			break
		}
		if !head.taken {
			g.waiting++
			if first < 0 {
				first = g.size
			}
		}
		g.size = head.end(g.size)
	}
	g.next = first
	if first < 0 {
		g.next = g.size
	}
	return err
}

// first returns the first record that waits, nil where none does. Damaged ones
// before it are passed over and counted.
func (g *segment) first() (record []byte, damaged int) {
	for g.waiting > 0 && g.next < g.size {
		head, err := readHeader(g.file, g.next, g.size)
		if err != nil {
			break
		}
		if !head.taken {
			if record, err = head.readRecord(g.file, g.next); err == nil {
				return record, damaged
			}
			damaged++
			g.waiting--
		}
		g.next = head.end(g.next)
	}
	return nil, damaged + g.giveUp()
}

// giveUp leaves the rest unread.
func (g *segment) giveUp() int {
	lost := g.waiting
	g.waiting, g.next = 0, g.size
	return lost
}

// take marks the first record that waits, which first has returned.
func (g *segment) take() error {
	head, err := readHeader(g.file, g.next, g.size)
	if err != nil {
		g.giveUp()
		return err
	}
	if g.waiting--; g.waiting > 0 { // else the whole file is removed
		_, err = g.file.WriteAt([]byte(markTaken), g.next+markAt)
	}
	g.next = head.end(g.next)
	return err
}
