package show

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/policy"
)

// explainPage says of a container that it is refused, or in audit mode would be.
type explainPage struct {
	page
	refused string
}

// ExplainText prints each container, each of its mounts with the decision about
// it, the rules that were tried, and what becomes of it.
func ExplainText(w io.Writer, x Explanation) error {
	p := &explainPage{page{w: w}, "is refused"}
	mode := "so what follows is done"
	if x.Policy.Mode == string(policy.ModeAudit) {
		mode, p.refused = "so what follows is recorded and not done", "would be refused"
	}
	p.line(fmt.Sprintf("policy %s: mode %s, %s", Word(x.Policy.Name), Word(x.Policy.Mode), mode))
	for _, e := range x.Containers {
		p.line("")
		p.line(e.title())
		for _, m := range e.Mounts {
			p.line("")
			p.mount(m, e.Hazards)
		}
		p.container(e)
	}
	return p.err
}

// title names a container: "init container app of pod prod/web (Deployment
// prod/web)".
func (e Explained) title() string {
	name := e.Container.Name
	if name == "" {
		name = shortID(e.Container.ID)
	}
	text := e.Kind + " " + Word(name)
	if e.Container.Pod.Name != "" {
		text += " of pod " + Word(e.Container.Pod.Namespace) + "/" + Word(e.Container.Pod.Name)
	}
	from := Line(e.From)
	if !e.fromManifest() && e.Container.ID != "" {
		from += " " + Word(shortID(e.Container.ID))
	}
	if from == "Pod "+e.Container.Pod.Namespace+"/"+e.Container.Pod.Name {
		return text
	}
	return text + " (" + from + ")"
}

// mount prints what is about one mount.
func (p *explainPage) mount(m ExplainedMount, hazards []facts.Hazard) {
	if !m.Decision.Judged {
		p.line(fmt.Sprintf("%s   %s   no bind of a host path: no rule is asked", Word(m.Mount.Destination), Word(m.Mount.Type)))
		return
	}
	by := "the policy's default"
	if m.Rule != "" {
		by = fmt.Sprintf("rule %q", m.Rule)
	}
	p.line(fmt.Sprintf("%s   %s  ->  %s   %s  %s", Word(m.Mount.Destination), asked(m.Asked), m.verb(), by, Word(m.Position)))
	p.trace("  ", m.Decision.Trace, m.Untried)
	for _, shadow := range m.Shadow {
		p.field("audit mode", inForce(shadow))
	}
	for _, doubt := range m.Doubts {
		p.field("doubt", doubt)
	}
	source := Word(m.Mount.Source)
	if m.Mount.Host != nil && m.Mount.Host.Canonical != "" && m.Mount.Host.Canonical != m.Mount.Source {
		source += ", on the host " + Word(m.Mount.Host.Canonical)
	}
	if m.Volume != "" {
		source += " (" + Line(m.Volume) + ")"
	}
	p.field("source", source)
	if m.Note != "" {
		p.field("", m.Note)
	}
	p.field("becomes", m.becomes(p.refused))
	p.field("host", answerText(m.Possible))
	for _, h := range hazards {
		if len(h.Destinations) > 0 && h.Destinations[0] == m.Mount.Destination {
			p.field("hazard", fmt.Sprintf("%s, %s: %s", h.Code, h.Action, strings.TrimPrefix(h.String(), string(h.Code)+": ")))
		}
	}
}

// verb is what is decided.
func (m ExplainedMount) verb() string {
	if m.Result == facts.Left && m.NotRefused {
		return "not refused, a static pod never is (" + m.denied() + ")"
	}
	text := string(m.Action)
	if m.Action == facts.ActionDeny || m.Result == facts.Refused {
		text = m.denied()
	} else if m.Action == facts.ActionSet {
		to := m.Wanted
		if to == facts.Unset {
			to = m.Decided
		}
		text += " " + asked(to)
	}
	if m.Verdict == VerdictUnknown {
		text = "cannot tell (" + text + ")"
	}
	return text
}

// denied is what is decided about a mount that is refused.
func (m ExplainedMount) denied() string {
	if m.Action == facts.ActionDeny {
		return "DENY"
	}
	if m.Action == facts.ActionSet {
		to := option(m.Decision.Propagation)
		return Line(fmt.Sprintf("DENY (set %s cannot come true: %s)", to, strings.TrimPrefix(m.Reason, "cannot be "+to+": ")))
	}
	return "DENY, for a hazard"
}

// becomes tells what the specification has after the decision.
func (m ExplainedMount) becomes(refused string) string {
	options := Line(strings.Join(m.Mount.Options, ","))
	why := ""
	if m.Reason != "" {
		why = ": " + m.Reason
	}
	switch m.Result {
	case facts.Applied:
		return fmt.Sprintf("%s instead of %s%s", option(m.Decided), options, why)
	case facts.Left:
		return "left as asked, " + options + why
	case facts.Refused:
		return "nothing, the container " + refused + why
	case facts.Deferred:
		return fmt.Sprintf("%s in the container's mount namespace, before its start%s", option(m.Decided), why)
	default:
		return "unchanged, " + options
	}
}

// container prints what is about all mounts of a container together.
func (p *explainPage) container(e Explained) {
	p.line("")
	if e.Omitted > 0 {
		p.field("omitted", words.Count(e.Omitted, "mount")+" of the runtime and the kubelet, about which nothing is done; --all lists them")
	}
	for _, f := range e.Findings {
		p.field("finding", f.Code+": "+f.Message)
	}
	for _, h := range e.Hazards {
		if len(h.Destinations) == 0 {
			p.field("hazard", string(h.Action)+", "+h.String())
		}
	}
	for _, u := range e.Unknown {
		p.field("unknown", u.What+": "+u.Why)
	}
	switch {
	case e.Refusal != "":
		name := "refusal"
		if p.refused != "is refused" {
			name = "would read"
		}
		p.field(name, e.Refusal)
	case e.AfterWhy != "":
		p.field("spec", "the runtime would not make it: "+e.AfterWhy)
	default:
		p.specification(e)
	}
}

// specification prints what the runtime will mount, where that is another list
// than was asked for.
func (p *explainPage) specification(e Explained) {
	before, after := cmp.Or(e.Before.RootfsPropagation, "unset"), cmp.Or(e.After.RootfsPropagation, "unset")
	text := "rootfsPropagation " + Word(after)
	if before != after {
		text += ", was " + Word(before)
	}
	if !e.sorted() {
		p.field("spec", text+"; the order of the mounts is as asked")
		return
	}
	p.field("spec", text+"; all mounts are sorted, which changes their order:")
	for i, m := range e.After.Mounts {
		was := ""
		if i >= len(e.Before.Mounts) || e.Before.Mounts[i].Destination != m.Destination {
			was = "  <-"
		}
		p.line(fmt.Sprintf("    %2d  %s  %s%s", i+1, Word(m.Destination), Line(strings.Join(m.Options, ",")), was))
	}
}

func answerText(a facts.Answer) string {
	word := a.Truth.String()
	if a.Truth == facts.Unknown {
		word = "cannot tell"
	}
	if a.Why == "" {
		return word
	}
	return word + ": " + a.Why
}
