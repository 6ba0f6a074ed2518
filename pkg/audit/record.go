package audit

import (
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/journal"
)

// record is one event or log line, ready to be written by every destination.
// It refers to nothing of its origin, which may go on changing.
type record struct {
	time     time.Time
	event    string // "" for a log line
	priority priority
	message  string
	fields   []journal.Field
	line     []byte // JSON without a newline

	later Event // what all but the time is still to be rendered from; nil: nothing
	held  int64 // about how much memory later holds, in bytes

	told func(taken bool) // called once; nil: nobody asks

	mark chan<- struct{} // no record: closed when its turn comes; nil for a record
}

// tell says what became of the record.
func (r record) tell(taken bool) {
	if r.told != nil {
		r.told(taken)
	}
}

// String is what a logrus formatter prints for a record carried by an entry.
func (r record) String() string { return r.event }

// size is about how much memory the record holds, in bytes.
func (r record) size() int64 {
	size := len(r.message) + len(r.line)
	for _, field := range r.fields {
		size += len(field.Name) + len(field.Value)
	}
	return r.held + int64(size)
}

// header begins every record's JSON. No event may have a member of these names.
type header struct {
	Schema   string    `json:"schema"`
	Time     time.Time `json:"time"`
	Priority priority  `json:"priority"` // syslog level
	Message  string    `json:"message"`
}

// newRecord renders an event.
func (l *layouts) newRecord(event Event, now time.Time) record {
	d := event.describe()
	r := record{time: now, event: d.kind.name, priority: d.priority, message: oneLine(d.message)}
	line, err := l.join(header{d.kind.schema, now.UTC(), d.priority, r.message}, event)
	if err != nil {
		// Nothing but a mistake in a type of ours leads here. The record goes
		// out all the same, and says what it lacks.
		d.fields.add("MOUNTWARD_ERROR", err.Error())
		line, _ = l.join(header{d.kind.schema, now.UTC(), d.priority, r.message},
			facts.Finding{Code: "record-incomplete", Evidence: err.Error()})
	}
	r.line = line

	f := make(fields, 0, len(d.fields)+6)
	f.add("MESSAGE", r.message)
	f.add("MESSAGE_ID", d.kind.id)
	f.add("PRIORITY", d.priority.digit())
	f.add("SYSLOG_IDENTIFIER", Identifier)
	f.add("MOUNTWARD_EVENT", d.kind.name)
	f = append(f, d.fields...)
	f = append(f, journal.Field{Name: "MOUNTWARD_RECORD", Value: line})
	r.fields = f
	return r
}

func (p priority) digit() string { return string(rune('0' + p)) }

// join returns the members of two structs as one JSON object.
func (l *layouts) join(a, b any) ([]byte, error) {
	first, err := l.marshal(a)
	if err != nil {
		return nil, err
	}
	second, err := l.marshal(b)
	if err != nil {
		return nil, err
	}
	if len(second) == len("{}") {
		return first, nil
	}
	first[len(first)-1] = ','
	return append(first, second[1:]...), nil
}
