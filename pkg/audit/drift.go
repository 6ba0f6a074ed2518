package audit

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/verify"
)

// Drift is recorded when the kernel's tables do not show what was decided, or
// when that cannot be told.
type Drift struct {
	Container Container       `json:"container"`
	Policy    Policy          `json:"policy"`
	PID       int             `json:"pid,omitempty"`
	Refused   bool            `json:"refused"`                 // the start was answered with an error
	Owner     string          `json:"owner_message,omitempty"` // that error: what the owner of the pod was told
	Proofs    []verify.Proof  `json:"proofs"`
	Findings  []facts.Finding `json:"findings,omitempty"`
}

func (d Drift) describe() description {
	message, priority := d.headline()
	desc := description{kind: kindDrift(), priority: priority, message: message}
	f := &desc.fields
	f.container(d.Container)
	f.policy(d.Policy)
	var mounts, findings []string
	for _, p := range d.Proofs {
		mounts = append(mounts, proofText(p))
	}
	for _, finding := range d.Findings {
		findings = append(findings, findingText(finding))
	}
	f.each("MOUNTWARD_MOUNT", mounts)
	f.each("MOUNTWARD_FINDING", findings)
	return desc
}

// proofText is one MOUNTWARD_MOUNT: the destination as it is and what the proof
// says of it.
func proofText(p verify.Proof) string {
	text := fmt.Sprintf("%s decided %s, seen %s: %s", p.Destination, option(p.Decided), state(p.Seen), p.Verdict)
	if p.More {
		text += ", more than decided"
	}
	if p.Reason != "" {
		text += " (" + p.Reason + ")"
	}
	return text
}

// headline tells why a start was refused, else the worst proof and how many
// others are not as decided, else what could not be told.
func (d Drift) headline() (string, priority) {
	worst, others := d.worst()
	switch {
	case d.Refused && d.Owner != "":
		return fmt.Sprintf("refused the start of %s: %s", d.Container, strings.TrimPrefix(d.Owner, "mountward: ")), prioError
	case worst == nil && len(d.Findings) > 0:
		return fmt.Sprintf("about %s: %s", d.Container, d.Findings[0].Message), prioNotice
	case worst == nil:
		return fmt.Sprintf("mounts of %s are as decided", d.Container), prioInfo
	}
	what := fmt.Sprintf("mount %s is %s, decided %s (host: %s)",
		word(worst.Destination), state(worst.Seen), option(worst.Decided), state(worst.Host))
	text, priority := fmt.Sprintf("cannot tell whether %s is as decided: %s", d.Container, what), prioNotice
	switch {
	case d.Refused:
		text, priority = fmt.Sprintf("refused the start of %s: %s", d.Container, what), prioError
	case worst.More:
		text, priority = fmt.Sprintf("%s has more propagation than decided: %s", d.Container, what), prioError
	case worst.Verdict == verify.Drift:
		text, priority = fmt.Sprintf("%s has less propagation than decided: %s", d.Container, what), prioWarning
	}
	if worst.Reason != "" {
		text += ": " + worst.Reason
	}
	if others > 0 {
		text += fmt.Sprintf("; %s: see MOUNTWARD_MOUNT", words.Count(others, "more mount"))
	}
	return text, priority
}

func (d Drift) worst() (worst *verify.Proof, others int) {
	weight := func(p verify.Proof) int {
		switch {
		case p.Verdict == verify.Same:
			return 0
		case p.More:
			return 3
		case p.Verdict == verify.Drift:
			return 2
		default:
			return 1
		}
	}
	for i, p := range d.Proofs {
		switch {
		case weight(p) == 0:
			continue
		case worst == nil:
			worst = &d.Proofs[i]
			continue
		case weight(p) > weight(*worst):
			worst = &d.Proofs[i]
		}
		others++
	}
	return worst, others
}

func state(s *facts.MountState) string {
	if s == nil {
		return "not known"
	}
	return s.String()
}
