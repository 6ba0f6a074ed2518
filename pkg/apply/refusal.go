package apply

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mountward/mountward/pkg/facts"
)

// maxRefusal bounds the message: the kubelet shows it to the pod's owner as an
// event, after the runtime's own words.
const maxRefusal = 199

// refusal names the first refused mount, the rule and the cure.
func refusal(outcomes []facts.Outcome) error {
	for _, o := range outcomes {
		if o.Result == facts.Refused {
			return errors.New(Refusal(o))
		}
	}
	return nil
}

// Refusal is the message about one refused mount, in one line of less than 200
// bytes, written for the pod's owner.
func Refusal(o facts.Outcome) string {
	asked := o.Asked.Option()
	if k := o.Asked.Kubernetes(); k != "" {
		asked += "/" + k
	}
	if asked == "" {
		asked = "no propagation"
	}
	by := "the policy's default"
	if o.Rule != "" {
		by = fmt.Sprintf("rule %q", o.Rule)
	}
	if o.Position != "" {
		by += " (" + o.Position + ")"
	}
	reason := o.Reason
	if reason == "" {
		reason = "not allowed here; ask the node's administrator for a rule, or change the mount"
	}
	return oneLine(fmt.Sprintf("mountward: mount %s (%s) refused by %s: %s", o.Mount.Destination, asked, by, reason), maxRefusal)
}

// oneLine replaces control characters, so that a path cannot forge a line, and
// cuts the text to at most limit bytes.
func oneLine(text string, limit int) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return '?'
		}
		return r
	}, text)
	if len(text) <= limit {
		return text
	}
	cut := limit - len("...")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "..."
}
