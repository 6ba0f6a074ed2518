package audit

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/mountward/mountward/pkg/journal"
)

// FallbackFile is the file the daemon gives as Options.Fallback.
const FallbackFile = "/var/log/mountward/audit.jsonl"

// Options say where the trail goes. At least one destination must come of them.
type Options struct {
	Journal       bool
	JournalSocket string // default journal.DefaultSocket

	// Spool is a directory for events, and lines of the log from warning on,
	// that the journal does not take: because it is stopped, restarted or gone.
	// They are sent when it is back, in order, also by the next process with the
	// same directory; one process at a time uses it. "" is none: they are lost.
	Spool string

	// File gets one JSON object a line, also when the journal works. It is
	// made with mode 0600, and made anew where it was rotated away.
	File string

	// Fallback takes the place of File where that is unset and there is no
	// journal: not asked for, or no socket when the trail is made. "" is none.
	Fallback string

	// Stderr gets lines for people; nil is none. A reader that does not read
	// holds up the other destinations, and the queue overflows.
	Stderr io.Writer

	Now func() time.Time // default time.Now
}

// destinations opens what the options ask for. What cannot be written now is
// no error here: it is counted, and told to the other destinations.
func (o Options) destinations() ([]*destination, error) {
	var all []*destination
	socket := o.JournalSocket
	if socket == "" {
		socket = journal.DefaultSocket
	}
	file := o.File
	if o.Journal && !missing(socket) {
		sink := &journalSink{path: socket}
		wait := journal.DefaultTimeout
		if o.Spool != "" {
			sink.spool = &spooler{dir: o.Spool}
			wait = journalWait
		}
		var err error
		if sink.writer, err = journal.NewWriter(socket, wait); err != nil {
			return nil, err
		}
		all = append(all, &destination{sink: sink})
	} else if file == "" {
		file = o.Fallback
	}
	if file != "" {
		sink, err := newFileSink(file)
		if err != nil {
			return nil, errors.Join(err, closeAll(all))
		}
		all = append(all, &destination{sink: sink})
	}
	if o.Stderr != nil {
		all = append(all, &destination{sink: textSink{o.Stderr}})
	}
	if len(all) == 0 {
		return nil, errors.New("open audit trail: no journal, no file and no stderr to write to")
	}
	return all, nil
}

// missing reports that there is certainly nothing at path. A socket that cannot
// be looked at is tried.
func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, os.ErrNotExist)
}

func closeAll(all []*destination) error {
	var errs []error
	for _, d := range all {
		errs = append(errs, d.close())
	}
	return errors.Join(errs...)
}
