package doctor

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// MaxOneLine is how many bytes of a plugin's output node-problem-detector keeps
// by default (max_output_length of its custom plugin monitor).
const MaxOneLine = 80

// OneLine tells the worst there is, which a document has first, in at most
// MaxOneLine bytes of ASCII: what a condition of the node has room for. Code and
// subject come first, so that the line stays the same while the problem does.
func (d Document) OneLine() string {
	var problems, open []Finding
	for _, f := range d.Findings {
		switch f.Answer {
		case facts.No:
			problems = append(problems, f)
		case facts.Unknown:
			open = append(open, f)
		case facts.Yes:
		}
	}
	cannot := len(open) + len(d.Unknown)
	switch {
	case len(problems) > 0:
		worst := problems[0]
		return fit(worst.Code+" "+worst.Subject, about(worst), rest(len(problems)-1, cannot))
	case len(open) > 0:
		return fit("cannot tell: "+open[0].Code+" "+open[0].Subject, about(open[0]), rest(0, cannot-1))
	case len(d.Unknown) > 0:
		return fit("cannot tell: "+d.Unknown[0].What, d.Unknown[0].Why, rest(0, cannot-1))
	default:
		return fit(d.sound(), "", "")
	}
}

// sound says of a document without a problem what that means: of one that is not
// of the whole node it is not that the node is sound.
func (d Document) sound() string {
	switch {
	case d.Baseline != "":
		return fmt.Sprintf("nothing worse than the baseline, problems as before: %d", d.Kept)
	case d.Pod != "":
		return fmt.Sprintf("the mounts are the kubelet's, containers: %d, pod %s", len(d.Findings), d.Pod)
	default:
		return fmt.Sprintf("mount propagation is sound, checks: %d", len(d.Findings))
	}
}

// about is the message without the subject that it begins with.
func about(f Finding) string {
	if rest, ok := strings.CutPrefix(f.Message, f.Subject+" "); ok && f.Subject != "" {
		return rest
	}
	return f.Message
}

// rest counts what the line does not name.
func rest(problems, cannot int) string {
	var words []string
	if problems > 0 {
		words = append(words, fmt.Sprintf("+%d", problems))
	}
	if cannot > 0 {
		words = append(words, fmt.Sprintf("%d unknown", cannot))
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// fit makes one line of a head, a tail that is kept whole, and as much of the
// message as there is room for between them.
func fit(head, message, tail string) string {
	room := MaxOneLine - len(tail)
	text := ascii(head)
	if message != "" {
		text += ": " + ascii(message)
	}
	if len(text) > room {
		text = text[:room-len(dots)] + dots
	}
	return text + tail
}

const dots = "..."

// ascii replaces what a log or an API might not take.
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}
