package audit

import (
	"fmt"
	"io"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/mountward/mountward/pkg/journal"
)

// sink is where records go. Only the trail's goroutine calls it.
type sink interface {
	write(r record) error
	close() error
	String() string
}

// destination is a sink with the account of what it did not take.
type destination struct {
	sink
	missed uint64 // records not written and not yet told of
	failed error  // the last answer; nil when it was good
}

// put writes one record, and after a success tells of those missed before. It
// reports whether the destination went from good to failing.
func (d *destination) put(r record, now time.Time) (err error, fell bool) {
	if err = d.write(r); err != nil {
		fell = d.failed == nil
		d.failed = err
		d.missed++
		return err, fell
	}
	if d.missed > 0 {
		if d.write(lossRecord(d, now)) == nil {
			d.missed = 0
		}
	}
	d.failed = nil
	return nil, false
}

func lossRecord(d *destination, now time.Time) record {
	entry := &logrus.Entry{Time: now, Level: logrus.ErrorLevel, Data: logrus.Fields{"lost": d.missed}}
	entry.Message = fmt.Sprintf("records of the trail are lost to %s", d)
	entry.Data[logrus.ErrorKey] = "more came than could be written"
	if d.failed != nil {
		entry.Data[logrus.ErrorKey] = d.failed
	}
	return lineRecord(entry)
}

func failureRecord(d *destination, now time.Time) record {
	return lineRecord(&logrus.Entry{
		Time: now, Level: logrus.ErrorLevel,
		Message: fmt.Sprintf("the trail cannot be written to %s", d),
		Data:    logrus.Fields{logrus.ErrorKey: d.failed},
	})
}

type journalSink struct {
	path   string
	writer *journal.Writer
}

func (j journalSink) write(r record) error { return j.writer.Send(r.fields) }
func (j journalSink) close() error         { return j.writer.Close() }
func (j journalSink) String() string       { return "journal " + j.path }

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
