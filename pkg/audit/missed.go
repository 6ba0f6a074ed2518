package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/words"
)

// Missed is recorded once for a container that was created while nobody decided
// about it: the plugin was away, or stood aside. It says what the policy of now
// would have done, of which nothing was done: the mounts of a container that
// runs are what they are.
type Missed struct {
	Container Container       `json:"container"`
	Policy    Policy          `json:"policy"`
	PID       int             `json:"pid,omitempty"`
	Refused   bool            `json:"refused"`                 // its start was answered with an error
	Owner     string          `json:"owner_message,omitempty"` // that error: what the owner of the pod was told
	Outcomes  []facts.Outcome `json:"outcomes"`                // each as it would have been
	Findings  []facts.Finding `json:"findings,omitempty"`
}

func (m Missed) describe() description {
	message, priority := m.headline()
	desc := description{kind: kindMissed(), priority: priority, message: message}
	f := &desc.fields
	f.container(m.Container)
	f.policy(m.Policy)
	var rules, mounts, findings []string
	for _, o := range m.Outcomes {
		rules = append(append(rules, o.Rule), o.Noted()...)
		mounts = append(mounts, outcomeText(o))
	}
	for _, finding := range m.Findings {
		findings = append(findings, findingText(finding))
	}
	f.each("MOUNTWARD_RULE", rules)
	f.each("MOUNTWARD_MOUNT", mounts)
	f.each("MOUNTWARD_FINDING", findings)
	return desc
}

// headline says what would have been done with the gravest mount.
func (m Missed) headline() (string, priority) {
	if m.Refused {
		return fmt.Sprintf("refused the start of %s, which was created unseen: %s", m.Container, strings.TrimPrefix(m.Owner, "mountward: ")), prioError
	}
	grave, others := gravest(m.Outcomes)
	text, priority := fmt.Sprintf("%s was created unseen", m.Container), prioNotice
	switch {
	case grave == nil && len(m.Outcomes) == 0 && len(m.Findings) > 0:
		return text + ": " + m.Findings[0].Message, prioWarning
	case grave == nil:
		return text + "; the policy would have changed nothing", prioInfo
	case grave.Result == facts.Refused:
		priority = prioWarning
	}
	sentence, _ := Decision{Container: m.Container}.sentence(*grave)
	text += ": " + sentence
	if others > 0 {
		text += fmt.Sprintf("; %s: see MOUNTWARD_MOUNT", words.Count(others, "more mount"))
	}
	return text, priority
}

func (m Missed) copied() (event Event, size int64) {
	m.Container = m.Container.copied()
	m.Findings = slices.Clone(m.Findings)
	m.Outcomes = copiedOutcomes(m.Outcomes)
	return m, itemsSize(len(m.Outcomes) + len(m.Findings))
}
