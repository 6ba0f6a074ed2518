package audit

import (
	"errors"
	"os"
	"time"

	"github.com/mountward/mountward/pkg/audit/internal/spool"
)

// What the spool holds at most; about as many records of ordinary size as
// bytes allow. Where its directory is in memory, this is memory.
const (
	spoolBytes   = 16 << 20
	spoolRecords = 16 << 10
	spoolSegment = 1 << 20
)

// lookAgain is when to look again into a spool that could not be opened: that
// of a daemon that is about to end.
const lookAgain = 10 * time.Second

// spooler opens the spool when it is needed: at the start to send what is
// there, and later when there is something to keep.
type spooler struct {
	dir   string
	spool *spool.Spool // nil: not open
	known bool         // what an earlier daemon left
	next  time.Time    // before which it is not looked for again
	told  bool         // that it cannot be
	lost  uint64       // to damage
	why   error
}

// look opens a spool that is there, and returns why it cannot, once. That
// another process has it is no news: it sends what is there.
func (s *spooler) look() error {
	if s.known || time.Now().Before(s.next) {
		return nil
	}
	s.next = time.Now().Add(lookAgain)
	err := s.open(false)
	if err == nil || s.told || errors.Is(err, spool.ErrHeld) {
		return nil
	}
	s.told = true
	return err
}

func (s *spooler) open(create bool) error {
	opened, err := spool.Open(s.dir, spool.Limits{Bytes: spoolBytes, Records: spoolRecords, Segment: spoolSegment}, create)
	if errors.Is(err, os.ErrNotExist) && !create {
		s.known = true
		return nil
	}
	if err != nil {
		return err
	}
	s.spool, s.known = opened, true
	s.note()
	return nil
}

// note counts what the spool found damaged.
func (s *spooler) note() {
	if n := s.spool.Damaged(); n > 0 {
		s.lost += uint64(n)
		s.why = errors.New("damaged in the spool " + s.dir)
	}
}

func (s *spooler) damaged() (lost uint64, why error) {
	lost, why = s.lost, s.why
	s.lost, s.why = 0, nil
	return lost, why
}

func (s *spooler) waiting() int {
	if s.spool == nil {
		return 0
	}
	return s.spool.Waiting()
}

// append makes the directory anew where somebody removed it.
func (s *spooler) append(record []byte, beyond bool) error {
	if s.spool == nil {
		if err := s.open(true); err != nil {
			return err
		}
	}
	err := s.spool.Append(record, beyond)
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	err = s.close()
	if err == nil {
		err = s.open(true)
	}
	if err == nil {
		err = s.spool.Append(record, beyond)
	}
	return err
}

func (s *spooler) first() ([]byte, error) {
	defer s.note()
	return s.spool.First()
}

// take drops the first record. Where that is not written down, the next daemon
// sends it once more; nobody can do anything about it.
func (s *spooler) take() { _ = s.spool.Take() }

func (s *spooler) close() error {
	if s.spool == nil {
		return nil
	}
	closing := s.spool
	s.spool = nil
	return closing.Close()
}
