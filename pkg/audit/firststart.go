package audit

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/internal/words"
)

// FirstStart is recorded once on a node, after the first synchronization with
// its runtime: what the policy would have done with the containers that ran
// already. Each of them in a record of its own would be too much to read, and
// nobody missed them.
type FirstStart struct {
	Policy  Policy   `json:"policy"`
	Running int      `json:"running"` // containers
	Refused NamedSum `json:"would_refuse"`
	Left    NamedSum `json:"would_leave"` // for what could not be made true
	Changed NamedSum `json:"would_change"`
	Noted   NamedSum `json:"noted"` // an audit rule matched, or something was found
	Unknown NamedSum `json:"cannot_tell"`
}

// NamedSum is a number of containers, with the names of the first.
type NamedSum struct {
	Count int      `json:"count"`
	First []string `json:"first,omitempty"` // as Container.String names them
}

// maxFirst bounds the names of a NamedSum.
const maxFirst = 10

// Add counts a container.
func (s *NamedSum) Add(c Container) {
	s.Count++
	if len(s.First) < maxFirst {
		s.First = append(s.First, c.String())
	}
}

func (s FirstStart) describe() description {
	desc := description{kind: kindFirstStart(), priority: prioNotice}
	desc.fields.policy(s.Policy)
	text := fmt.Sprintf("%s ran when mountward first came to this node", words.Count(s.Running, "container"))
	var said, named []string
	for _, part := range []struct {
		verb string
		sum  NamedSum
	}{
		{"would have been refused", s.Refused},
		{"would have been left in part", s.Left},
		{"would have been changed", s.Changed},
		{"noted", s.Noted},
		{"could not be judged", s.Unknown},
	} {
		if part.sum.Count == 0 {
			continue
		}
		said = append(said, fmt.Sprintf("%d %s", part.sum.Count, part.verb))
		for _, name := range part.sum.First {
			named = append(named, part.verb+": "+name)
		}
	}
	desc.fields.each("MOUNTWARD_FOUND", named)
	switch {
	case len(said) > 0:
		text += ": " + strings.Join(said, ", ")
		if len(named) > 0 {
			text += "; the first " + named[0]
		}
	case s.Running > 0:
		text += "; the policy would have changed nothing"
	}
	if s.Refused.Count+s.Left.Count+s.Changed.Count+s.Unknown.Count == 0 {
		desc.priority = prioInfo
	}
	desc.message = text
	return desc
}
