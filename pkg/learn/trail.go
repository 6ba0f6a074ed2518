package learn

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
)

// The schemas of the records that tell of the mounts of a container, and limits of
// what is read. A record has at most some hundred KiB.
const (
	decisionSchema = "mountward.decision/v1"
	missedSchema   = "mountward.missed/v1"
	taskSchema     = "mountward.task/v1"

	maxLine       = 8 << 20
	maxContainers = 200_000
)

// Trail is what a trail has of containers.
type Trail struct {
	Containers []facts.Container // sorted by id; not those whose creation was refused
	Unknown    []facts.Unread
	Records    int // that tell of the mounts of a container
	Changed    int // mounts that have another propagation than they asked for
}

// line is a record of the trail, or what journalctl -o json makes of its journal
// entry.
type line struct {
	Schema    string           `json:"schema"`
	Container *facts.Container `json:"container"`
	Refused   bool             `json:"refused"`
	Outcomes  []facts.Outcome  `json:"outcomes"`
	Mounts    []struct {
		Destination string            `json:"destination"`
		Source      string            `json:"source"`
		Asked       facts.Propagation `json:"asked"`
	} `json:"mounts"`

	Record    json.RawMessage `json:"MOUNTWARD_RECORD"`
	Event     json.RawMessage `json:"MOUNTWARD_EVENT"`
	UID       string          `json:"_UID"`
	Transport string          `json:"_TRANSPORT"`
}

// ReadTrail reads audit.jsonl, or what "journalctl -o json" prints. The last
// decision about a container counts, and its task record where there is none: with
// [audit] decisions = "changed" only some have one. Lines of others are passed
// over. An error is one of reading.
func ReadTrail(r io.Reader) (Trail, error) {
	t := newReader(maxContainers)
	in := bufio.NewReaderSize(r, 64<<10)
	for number := 1; ; number++ {
		text, err := readLine(in)
		switch {
		case errors.Is(err, errLong):
			t.cannot(number, err.Error())
		case len(bytes.TrimSpace(text)) > 0:
			if why := t.line(text); why != "" {
				t.cannot(number, why)
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, errLong) {
			return Trail{}, err
		}
	}
	return t.trail(), nil
}

type reader struct {
	most         int // containers
	decided, ran map[string]facts.Container
	unknown      []facts.Unread
	more         int
	records      int
	changed      map[string]int // mounts that were, by container
}

func newReader(most int) *reader {
	return &reader{most: most, decided: map[string]facts.Container{}, ran: map[string]facts.Container{}, changed: map[string]int{}}
}

func (t *reader) cannot(number int, why string) {
	if len(t.unknown) >= maxListed {
		t.more++
		return
	}
	t.unknown = append(t.unknown, facts.Unread{What: fmt.Sprintf("line %d of the trail", number), Why: why})
}

// line takes one line, and returns why it could not.
func (t *reader) line(text []byte) string {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return "it is no record: " + err.Error()
	}
	if l.Record != nil || l.Event != nil {
		if l.UID != "0" || l.Transport != "journal" {
			return "it has the fields of a record, and was not written to the journal by a process of root"
		}
		var why string
		if text, why = journalField(l.Record); why != "" {
			return why
		}
		l = line{}
		if err := json.Unmarshal(text, &l); err != nil {
			return "its MOUNTWARD_RECORD is no record: " + err.Error()
		}
	}
	switch l.Schema {
	case decisionSchema, missedSchema, taskSchema:
	default:
		return ""
	}
	t.records++
	switch {
	case l.Container == nil || l.Container.ID == "":
		return "it is about no container"
	case bytes.Contains(text, []byte(`_b64":"`)):
		return "container " + word(l.Container.ID) + ": it has text that is not UTF-8, and a policy is"
	case len(t.decided)+len(t.ran) >= t.most:
		return fmt.Sprintf("there are more than %d containers", t.most)
	}
	t.take(&l)
	return ""
}

func (t *reader) take(l *line) {
	c := *l.Container
	c.Mounts = nil
	if l.Schema == taskSchema {
		for _, m := range l.Mounts {
			c.Mounts = append(c.Mounts, bind(m.Source, m.Destination, m.Asked))
		}
		t.ran[c.ID] = c
		return
	}
	if l.Refused {
		delete(t.decided, c.ID)
		delete(t.changed, c.ID)
		return
	}
	t.changed[c.ID] = 0
	for _, o := range l.Outcomes {
		o.Mount.Actual = facts.Identity{}
		c.Mounts = append(c.Mounts, o.Mount)
		if Changed(o) {
			t.changed[c.ID]++
		}
	}
	t.decided[c.ID] = c
}

func (t *reader) trail() Trail {
	maps.DeleteFunc(t.ran, func(id string, _ facts.Container) bool { _, ok := t.decided[id]; return ok })
	maps.Copy(t.decided, t.ran)
	if t.more > 0 {
		t.unknown = append(t.unknown, facts.Unread{What: fmt.Sprintf("%d more lines of the trail", t.more), Why: "they could not be read either"})
	}
	all := Trail{Unknown: t.unknown, Records: t.records}
	for _, id := range slices.Sorted(maps.Keys(t.decided)) {
		all.Changed += t.changed[id]
		all.Containers = append(all.Containers, t.decided[id])
	}
	return all
}

// Changed reports whether a mount has another propagation than it asked for, by
// its policy.
func Changed(o facts.Outcome) bool { return o.Result == facts.Applied && !o.Would }

// journalField returns a field as journalctl prints it: text, the numbers of its
// bytes where it does not print, null where it is long and --all was not given.
func journalField(raw json.RawMessage) (text []byte, why string) {
	var s string
	if json.Unmarshal(raw, &s) == nil && raw[0] == '"' { // null is no error
		return []byte(s), ""
	}
	var numbers []uint16 // a []uint8 would be read as base64
	if json.Unmarshal(raw, &numbers) == nil && len(numbers) > 0 {
		for _, n := range numbers {
			text = append(text, byte(n))
		}
		return text, ""
	}
	return nil, "journalctl left its MOUNTWARD_RECORD out, which is long: give it --all (-a)"
}

var errLong = fmt.Errorf("it is longer than %d bytes", maxLine)

// readLine returns the next line; one that is too long is passed over.
func readLine(in *bufio.Reader) ([]byte, error) {
	var text []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if !long {
			text = append(text, part...)
		}
		if len(text) > maxLine {
			long, text = true, nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long: // an error of reading comes again with the next line
			return nil, errLong
		default:
			return text, err
		}
	}
}
