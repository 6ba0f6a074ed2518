package audit

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/mountward/mountward/pkg/journal"
)

// How a journal that takes nothing is waited for. A stopped one costs the
// other destinations journalWait every pause.
const (
	journalWait = 100 * time.Millisecond // for room in its queue
	firstPause  = 100 * time.Millisecond // before the next attempt
	lastPause   = 2 * time.Second
	resendTime  = 200 * time.Millisecond // before the queue has its turn again
	resendTries = 5                      // for a record that a journal refuses which is there
)

var (
	// errWaits is no loss: the record is in the spool.
	errWaits = errors.New("the journal is away")
	// errSkipped is of a line of the log that the spool does not keep.
	errSkipped = errors.New("not kept while the journal is away")
)

// journalSink sends records to the journal. With a spool it keeps in order what
// the journal does not take, and sends it later.
type journalSink struct {
	path   string
	writer *journal.Writer
	spool  *spooler // nil: none

	away  error // why the last attempt failed; nil: it did not
	pause time.Duration
	next  time.Time // before which no attempt is made
	tries int       // with the first record of the spool
	sent  uint64    // from the spool since it was empty
}

func (j *journalSink) String() string { return "journal " + j.path }

func (j *journalSink) close() error {
	if j.spool != nil {
		return errors.Join(j.writer.Close(), j.spool.close())
	}
	return j.writer.Close()
}

func (j *journalSink) write(r record) error {
	datagram, err := journal.Encode(r.fields)
	if err != nil {
		return err
	}
	if j.spool == nil {
		return j.writer.SendEncoded(datagram)
	}
	// What waits goes first.
	if j.spool.waiting() == 0 && !time.Now().Before(j.next) {
		if err = j.writer.SendEncoded(datagram); err == nil {
			j.well()
			return nil
		}
		j.unwell(err)
	}
	return j.keep(r, false)
}

// keep puts a record into the spool, also beyond its limits where that is asked
// for, with the time it has: the journal's own will be that of its arrival.
func (j *journalSink) keep(r record, beyond bool) error {
	if r.event == "" && r.priority > prioWarning {
		return errSkipped
	}
	when := journal.String("MOUNTWARD_TIME", r.time.UTC().Format(time.RFC3339Nano))
	datagram, err := journal.Encode(append(slices.Clip(r.fields), when))
	if err == nil {
		err = j.spool.append(datagram, beyond)
	}
	switch {
	case err != nil && j.away != nil:
		return fmt.Errorf("%w; and %w", err, j.away)
	case err != nil:
		return err
	case j.away != nil:
		return fmt.Errorf("%w: %w", errWaits, j.away)
	default:
		return errWaits
	}
}

func (j *journalSink) well() { j.away, j.pause, j.next = nil, 0, time.Time{} }

func (j *journalSink) unwell(err error) {
	j.away = err
	j.pause = min(max(2*j.pause, firstPause), lastPause)
	j.next = time.Now().Add(j.pause)
}

// resent is what came of sending what waits.
type resent struct {
	sent   uint64
	lost   uint64 // damaged, or refused by a journal that is there
	why    error  // of the last one lost
	backed uint64 // all that waited is sent, so many records; 0: some wait
	blind  error  // why what an earlier daemon left cannot be read
}

// resend sends what waits until it is all sent, the journal takes no more, or
// its time is over.
func (j *journalSink) resend() (done resent) {
	begun := time.Now()
	done.blind = j.spool.look()
	for j.spool.waiting() > 0 && !begun.Before(j.next) && time.Since(begun) < resendTime {
		datagram, err := j.spool.first()
		if err == nil && datagram != nil {
			err = j.writer.SendEncoded(datagram)
		}
		switch {
		case err == nil && datagram == nil: // what was left was damaged
		case err == nil:
			j.well()
			j.tries = 0
			done.sent++
			j.spool.take()
		case datagram == nil || isAway(err) || j.tries+1 < resendTries:
			if datagram != nil && !isAway(err) {
				j.tries++
			}
			j.unwell(err)
			return j.account(done)
		default:
			j.tries = 0
			done.lost++
			done.why = err
			j.spool.take()
		}
	}
	return j.account(done)
}

// hurry lets the next attempt be now.
func (j *journalSink) hurry() { j.next = time.Time{} }

// account completes what resend tells.
func (j *journalSink) account(done resent) resent {
	j.sent += done.sent
	if n, why := j.spool.damaged(); n > 0 {
		done.lost += n
		done.why = why
	}
	if j.spool.waiting() == 0 {
		done.backed, j.sent = j.sent, 0
	}
	return done
}

// due returns when to call resend again, false where nothing waits.
func (j *journalSink) due() (time.Duration, bool) {
	if j.spool.waiting() > 0 {
		return max(0, time.Until(j.next)), true
	}
	return time.Until(j.spool.next), !j.spool.known
}

// isAway reports that the journal takes no record at all now, whichever it is.
func isAway(err error) bool {
	for _, away := range []error{syscall.EAGAIN, syscall.ECONNREFUSED, syscall.ENOENT, syscall.ENOTCONN, syscall.ECONNRESET} {
		if errors.Is(err, away) {
			return true
		}
	}
	return false
}
