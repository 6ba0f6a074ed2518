package show

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mountward/mountward/pkg/control"
	"github.com/mountward/mountward/pkg/internal/words"
)

// maxWrong is how many mistakes of a policy a person is shown. JSON has all.
const maxWrong = 5

// StatusTable prints what the daemon tells of itself: a line for each thing, what
// makes the node fail closed, and the problems last, where the eye is.
func StatusTable(w io.Writer, s control.Status) error {
	p := &page{w: w}
	p.entry("daemon", fmt.Sprintf("mountward %s, process %d, %s, since %s", s.Version, s.PID, how(s.Launched), since(s.Started, s.Time)))
	p.entry("connection", connection(s))
	if c := s.Connection; c.Connected {
		timeout := "no time that the runtime tells"
		if c.RequestTimeout > 0 {
			timeout = milliseconds(c.RequestTimeout).String()
		}
		p.entry("deadline", fmt.Sprintf("%s; the runtime waits %s", milliseconds(c.Deadline), timeout))
	}
	p.entry("policy", policyLine(s.Policy))
	for i, wrong := range s.Policy.Wrong {
		if i == maxWrong {
			p.entry("", fmt.Sprintf("and %d more: mountward check", len(s.Policy.Wrong)-maxWrong))
			break
		}
		p.entry("", wrong)
	}
	if a := s.Aside; a != nil {
		text := "CONTAINERS ARE CREATED UNJUDGED: " + a.Reason
		if a.Until != nil {
			text += ", until " + stamp(*a.Until)
		}
		p.entry("aside", text)
	}
	p.entry("decisions", decisions(s))
	c := s.Counters
	p.entry("records", fmt.Sprintf("%d sent, %d lost, %d waiting; to %s", c.Sent, c.Lost, c.Spooled, orDash(strings.Join(s.Journal, ", "))))
	p.line("")
	if p.err != nil {
		return p.err
	}
	t := newTable(w, "FAIL CLOSED", "ANSWER", "WHY")
	for _, part := range s.FailClosed {
		answer := part.Truth.String()
		if answer == "unknown" {
			answer = "cannot tell"
		}
		t.row(Word(part.Name), answer, orDash(part.Why))
	}
	if err := t.flush(); err != nil {
		return err
	}
	for _, problem := range s.Problems {
		p.line("")
		p.line(Line("problem: " + problem.Line + ": " + problem.Why))
	}
	return p.err
}

// entry writes a named line. A name of "" goes on with the one before. The text
// is from outside.
func (p *page) entry(name, text string) {
	p.line(strings.TrimRight(fmt.Sprintf("%-10s  %s", name, Line(text)), " "))
}

func how(launched bool) string {
	if launched {
		return "launched by containerd"
	}
	return "a service"
}

func connection(s control.Status) string {
	c := s.Connection
	if !c.Connected {
		return fmt.Sprintf("NOT CONNECTED since %s: %s", since(c.Since, s.Time), c.Why)
	}
	text := fmt.Sprintf("%s %s (process %d), NRI %s, since %s", c.Runtime, c.Version, c.PID, orDash(c.NRI), since(c.Since, s.Time))
	if !c.Synchronized {
		text += "; NOT SYNCHRONIZED YET"
	}
	return text
}

// Policy is the policy in force, in one line.
func Policy(p control.Policy) string {
	if p.Source == "none" {
		return "none: every container is refused"
	}
	text := fmt.Sprintf("%s: mode %s, default %s, %s, from %s", Word(p.Name), p.Mode, p.Default, Rules(p.Rules, p.Files), p.Source)
	if p.SHA256 != "" {
		text += ", sha256 " + p.SHA256
	}
	return text
}

func policyLine(p control.Policy) string {
	text := Policy(p)
	if len(p.Wrong) > 0 {
		text += "; " + Word(p.Configured) + " IS NOT IN FORCE:"
	}
	return text
}

// Rules says how many rules a policy has, and in how many files where it has
// drop-ins.
func Rules(n, files int) string {
	text := words.Count(n, "rule")
	if files > 1 {
		text += fmt.Sprintf(" in %d files", files)
	}
	return text
}

func decisions(s control.Status) string {
	c := s.Counters
	text := fmt.Sprintf("%d, the last %s; %d refused", c.Decisions, lastOne(s), c.Refusals)
	if c.Would > 0 {
		text += fmt.Sprintf(", %d would have been", c.Would)
	}
	for _, one := range []struct {
		n    uint64
		what string
	}{{c.Late, "late answers"}, {c.Panics, "panics"}, {c.Missed, "containers missed"}} {
		text += fmt.Sprintf(", %d %s", one.n, one.what)
	}
	return text
}

func lastOne(s control.Status) string {
	if s.Last == nil {
		return "never"
	}
	return ago(s.Time.Sub(*s.Last)) + " ago"
}

// since is a time and how long ago that is.
func since(t, now time.Time) string { return stamp(t) + " (" + ago(now.Sub(t)) + ")" }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// ago is a duration as people say it.
func ago(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return d.Truncate(time.Second).String()
	case d < 48*time.Hour:
		return strings.TrimSuffix(d.Truncate(time.Minute).String(), "0s")
	default:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	}
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
