package audit

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// What a crash record keeps of a panic's text and of its stack, in bytes: a
// stack that recursed without end is as large as the memory allows.
const (
	maxPanic = 2 << 10
	maxStack = 32 << 10
)

// Crash is recorded when the code of mountward panicked: in a handler, which
// was answered all the same, or for good, which the next start records.
type Crash struct {
	Container Container `json:"container,omitzero"` // zero where it was about none
	Policy    Policy    `json:"policy,omitzero"`
	Handler   string    `json:"handler,omitempty"` // what was being done: "create", "start", ...
	Panic     string    `json:"panic"`             // its value as text
	Stack     string    `json:"stack,omitempty"`   // as runtime/debug.Stack gives it
	Refused   bool      `json:"refused"`           // the request was answered with an error
	Fatal     bool      `json:"fatal,omitempty"`   // the daemon ended by it
	At        time.Time `json:"at,omitzero"`       // when, if that is not the time of the record
}

func (c Crash) describe() description {
	desc := description{kind: kindCrash(), priority: prioError, message: c.headline()}
	if c.Fatal {
		desc.priority = prioCritical
	}
	f := &desc.fields
	if !c.Container.isZero() {
		f.container(c.Container)
	}
	f.policy(c.Policy)
	f.add("MOUNTWARD_HANDLER", c.Handler)
	f.add("MOUNTWARD_ERROR", c.Panic)
	f.add("MOUNTWARD_STACK", c.Stack)
	return desc
}

// copied bounds what may be of any size.
func (c Crash) copied() (event Event, size int64) {
	c.Container = c.Container.copied()
	c.Panic, c.Stack = cut(c.Panic, maxPanic), cut(c.Stack, maxStack)
	return c, itemsSize(1) + int64(len(c.Panic)+len(c.Stack))
}

// headline quotes the panic, which may hold text from outside, and has it last,
// where the bound of a message may cut it.
func (c Crash) headline() string {
	text := "mountward panicked"
	if c.Fatal {
		text = "mountward crashed before this start"
	}
	if c.Handler != "" {
		text += " in " + word(c.Handler)
	}
	switch {
	case c.Refused:
		text += " and refused " + c.Container.String()
	case !c.Container.isZero():
		text += " and changed nothing in " + c.Container.String()
	}
	return fmt.Sprintf("%s: %s", text, strconv.Quote(c.Panic))
}

func (c Container) isZero() bool { return c.ID == "" && c.Name == "" }

// cut returns at most limit bytes of a text, and says where it was cut.
func cut(text string, limit int) string {
	const mark = " ..."
	if len(text) <= limit {
		return text
	}
	end := limit - len(mark)
	for end > 0 && end > limit-len(mark)-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}
