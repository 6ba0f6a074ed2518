package audit

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sirupsen/logrus"
)

// sink is where records go. Only the trail's goroutine calls it.
type sink interface {
	write(r record) error
	close() error
	String() string
}

// fate is what became of a record at a destination, the worst last.
type fate int

const (
	written fate = iota
	waits        // in the spool
	skipped      // a line of the log, for which there is no place in the spool
	lost
)

// destination is a sink with the account of what it did not take.
type destination struct {
	sink
	missed  uint64 // records lost and not yet told of
	why     error  // of the last of them; nil: they found no room in the queue
	skipped uint64 // lines not written and not yet told of
	state   fate   // of the last record that was not skipped
	failed  error  // the last answer; nil when it was good
}

// put writes one record, and after a success tells of those missed before. It
// reports whether the destination does worse than before.
func (d *destination) put(r record, now time.Time) (f fate, fell bool) {
	err := d.write(r)
	switch {
	case err == nil:
		f = written
	case errors.Is(err, errSkipped):
		d.skipped++
		return skipped, false
	case errors.Is(err, errWaits):
		f = waits
	default:
		f = lost
		d.missed++
		d.why = err
	}
	fell = f > d.state
	d.state, d.failed = f, err
	if f == written {
		d.confess(now)
	}
	return f, fell
}

// confess tells a sink that is well of what was lost and skipped.
func (d *destination) confess(now time.Time) {
	if d.missed > 0 {
		if err := d.write(lossRecord(d, now)); err == nil || errors.Is(err, errWaits) {
			d.missed, d.why = 0, nil
		}
	}
	if d.skipped > 0 && d.write(skipRecord(d, now)) == nil {
		d.skipped = 0
	}
}

func lossRecord(d *destination, now time.Time) record {
	entry := &logrus.Entry{Time: now, Level: logrus.ErrorLevel, Data: logrus.Fields{"lost": d.missed}}
	entry.Message = fmt.Sprintf("records of the trail are lost to %s", d)
	entry.Data[logrus.ErrorKey] = "more came than could be written"
	if d.why != nil {
		entry.Data[logrus.ErrorKey] = d.why
	}
	return lineRecord(entry)
}

func skipRecord(d *destination, now time.Time) record {
	return lineRecord(&logrus.Entry{
		Time: now, Level: logrus.InfoLevel,
		Message: fmt.Sprintf("lines of the log below warning were not kept for %s while it was away; no event is among them", d),
		Data:    logrus.Fields{"lines": d.skipped},
	})
}

func failureRecord(d *destination, now time.Time) record {
	entry := &logrus.Entry{
		Time: now, Level: logrus.ErrorLevel,
		Message: fmt.Sprintf("the trail cannot be written to %s", d),
		Data:    logrus.Fields{logrus.ErrorKey: d.failed},
	}
	if d.state == waits {
		entry.Level = logrus.WarnLevel
		entry.Message = fmt.Sprintf("the trail cannot be written to %s now; records wait until it is back", d)
	}
	return lineRecord(entry)
}

func backRecord(d *destination, sent uint64, now time.Time) record {
	return lineRecord(&logrus.Entry{
		Time: now, Level: logrus.InfoLevel,
		Message: fmt.Sprintf("records that had to wait for %s were sent, each with its time in MOUNTWARD_TIME", d),
		Data:    logrus.Fields{"records": sent},
	})
}

func blindRecord(d *destination, why error, now time.Time) record {
	return lineRecord(&logrus.Entry{
		Time: now, Level: logrus.WarnLevel,
		Message: fmt.Sprintf("cannot read what an earlier mountward left for %s", d),
		Data:    logrus.Fields{logrus.ErrorKey: why},
	})
}

// textSink writes lines for people.
type textSink struct{ out io.Writer }

func (t textSink) write(r record) error {
	_, err := fmt.Fprintf(t.out, "%s %s: %s\n", r.time.Format(time.RFC3339), r.priority, r.message)
	return err
}
func (t textSink) close() error   { return nil }
func (t textSink) String() string { return "stderr" }

// String is the name that journalctl -p takes.
func (p priority) String() string {
	switch p {
	case prioCritical:
		return "crit"
	case prioError:
		return "err"
	case prioWarning:
		return "warning"
	case prioNotice:
		return "notice"
	case prioInfo:
		return "info"
	default:
		return "debug"
	}
}
