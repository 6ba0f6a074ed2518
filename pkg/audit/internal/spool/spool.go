package spool

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
)

// Errors of a spool.
var (
	ErrFull = errors.New("the spool is full")
	ErrHeld = errors.New("another process has the spool")
)

// Limits bound a spool.
type Limits struct {
	Bytes   int64 // of all segments
	Records int   // that wait
	Segment int64 // bytes from which on a segment is not appended to
}

// Spool is a queue of records in a directory. It is not safe for concurrent
// use, and one process at a time has it.
type Spool struct {
	limits   Limits
	lock     *os.File // of the directory
	dir      *os.Root
	segments []*segment // the oldest first
	tail     *segment   // that is appended to, the last one; nil: the next is a new one
	last     uint64     // number of the newest segment there was
	bytes    int64
	waiting  int
	damaged  int // records lost to damage, not yet told of
}

// Open takes the spool in a directory, which it makes, with mode 0700, where
// asked to. Without that a directory that is not there is os.ErrNotExist.
// A spool that another process has is ErrHeld. Records that wait from before
// come first.
func Open(path string, limits Limits, create bool) (*Spool, error) {
	if create {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, fmt.Errorf("make spool: %w", err)
		}
	}
	lock, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	s := &Spool{limits: limits, lock: lock}
	if err := s.open(path); err != nil {
		return nil, errors.Join(fmt.Errorf("open spool %s: %w", path, err), s.Close())
	}
	return s, nil
}

func (s *Spool) open(path string) error {
	err := syscall.Flock(int(s.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrHeld
	}
	if err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if s.dir, err = os.OpenRoot(path); err != nil {
		return err
	}
	names, err := s.lock.Readdirnames(-1)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	for _, name := range names {
		if number, ok := segmentNumber(name); ok {
			s.segments = append(s.segments, &segment{number: number})
		}
	}
	slices.SortFunc(s.segments, func(a, b *segment) int { return cmp.Compare(a.number, b.number) })
	for _, g := range s.segments {
		err := g.scan(s.dir)
		if errors.Is(err, errDamaged) {
			s.damaged++
		} else if err != nil {
			return err
		}
		s.waiting += g.waiting
		s.bytes += g.onDisk
		s.last = g.number
	}
	_ = s.shift() // a file that stays is looked at again by the next process
	return nil
}

// Close lets another process take the spool. What waits stays.
func (s *Spool) Close() error {
	var errs []error
	for _, g := range s.segments {
		errs = append(errs, g.close())
	}
	if s.dir != nil {
		errs = append(errs, s.dir.Close())
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

// Waiting returns how many records wait.
func (s *Spool) Waiting() int { return s.waiting }

// Damaged returns how many records were found to be damaged since it was asked
// last. The rest of a segment whose length is not known counts as one.
func (s *Spool) Damaged() int {
	n := s.damaged
	s.damaged = 0
	return n
}

// Append adds a record, which is whole in the spool or not at all. It returns
// ErrFull where a limit is reached, unless it may go beyond.
func (s *Spool) Append(record []byte, beyond bool) error {
	frame := appendFrame(make([]byte, 0, headerSize+len(record)), record)
	size := int64(len(frame))
	if full := s.waiting >= s.limits.Records || s.bytes+size > s.limits.Bytes; full && !beyond {
		return ErrFull
	}
	if s.tail == nil || s.tail.size >= s.limits.Segment {
		if err := s.grow(); err != nil {
			return fmt.Errorf("append to spool: %w", err)
		}
	}
	g := s.tail
	if _, err := g.file.WriteAt(frame, g.size); err != nil {
		if cut := g.file.Truncate(g.size); cut != nil {
			s.tail = nil // its end is not to be written behind
		}
		_ = s.shift() // the error to tell is the first
		return fmt.Errorf("append to spool: %w", err)
	}
	g.size += size
	g.onDisk = g.size
	g.waiting++
	s.bytes += size
	s.waiting++
	return nil
}

// grow begins a new segment.
func (s *Spool) grow() error {
	g := &segment{number: s.last + 1}
	file, err := s.dir.OpenFile(segmentName(g.number), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	g.file = file
	s.last = g.number
	s.segments = append(s.segments, g)
	s.tail = g
	return nil
}

// First returns the record that waits longest, nil where none waits. It stays
// the first until Take. Damaged records are passed over and counted; an error
// is one that may pass.
func (s *Spool) First() ([]byte, error) {
	for s.waiting > 0 {
		g := s.segments[0]
		before := g.waiting
		err := g.open(s.dir)
		if err != nil && !errors.Is(err, errDamaged) {
			return nil, fmt.Errorf("read spool: %w", err)
		}
		var record []byte
		if err == nil {
			var damaged int
			record, damaged = g.first()
			s.damaged += damaged
		} else {
			s.damaged += g.giveUp()
		}
		s.waiting -= before - g.waiting
		if record != nil {
			return record, nil
		}
		_ = s.shift() // a file that stays is looked at again by the next process
	}
	return nil, nil
}

// Take takes the first record away. An error means that it is gone for now, and
// may be handed out once more to the next process.
func (s *Spool) Take() error {
	g := s.segments[0]
	before := g.waiting
	err := g.take()
	s.damaged += before - g.waiting - 1
	s.waiting -= before - g.waiting
	if gone := s.shift(); err == nil {
		err = gone
	}
	if err != nil {
		return fmt.Errorf("take from spool: %w", err)
	}
	return nil
}

// shift removes segments at the front in which nothing waits.
func (s *Spool) shift() error {
	var errs []error
	for len(s.segments) > 0 && s.segments[0].waiting == 0 {
		g := s.segments[0]
		if g == s.tail {
			s.tail = nil
		}
		s.segments = s.segments[1:]
		s.bytes -= g.onDisk
		errs = append(errs, g.close(), s.dir.Remove(segmentName(g.number)))
	}
	return errors.Join(errs...)
}
