package audit

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/words"
)

// Hazard is recorded once a container at CreateContainer, when its list of
// mounts is dangerous in a way that the policy does not ignore, and at
// StartContainer once more when the kernel's table shows what the list did not.
type Hazard struct {
	Container Container `json:"container"`
	Policy    Policy    `json:"policy"`
	Refused   bool      `json:"refused"` // the creation or the start was answered with an error
	// Denied is set where the policy denies one of the hazards and nothing was
	// refused: in audit mode, or for a static pod.
	Denied   bool           `json:"would_refuse,omitempty"`
	Hazards  []facts.Hazard `json:"hazards"`
	Repeated int            `json:"repeated,omitempty"` // times since the last record; see Repeats
}

func (h Hazard) describe() description {
	desc := description{kind: kindHazard(), priority: prioWarning, message: h.headline()}
	f := &desc.fields
	f.container(h.Container)
	f.policy(h.Policy)
	var codes, texts []string
	for _, one := range h.Hazards {
		codes, texts = append(codes, string(one.Code)), append(texts, one.String())
	}
	f.each("MOUNTWARD_HAZARD", codes)
	f.each("MOUNTWARD_HAZARD_TEXT", texts)
	return desc
}

// headline is the gravest hazard in full, and how many others there are.
func (h Hazard) headline() string {
	grave := h.gravest()
	text := fmt.Sprintf("%s: mount %s of %s %s", grave.Code, word(first(grave)), h.Container, grave.Message)
	if grave.Doubt != "" {
		text += ", if " + grave.Doubt
	}
	if grave.Stage == facts.StageDecided && h.Policy.Mode == "audit" {
		text += " (by what would be decided in the mode enforce)"
	}
	switch {
	case grave.Action != facts.HazardDeny:
	case h.Refused:
		text = "refused, " + text
	case h.Denied && h.Policy.Mode == "enforce":
		text = "not refused, as a static pod never is, " + text
	case h.Denied:
		text = "would refuse, " + text
	}
	if more := len(h.Hazards) - 1; more > 0 {
		text += fmt.Sprintf("; %s: see MOUNTWARD_HAZARD_TEXT", words.Count(more, "more hazard"))
	}
	if h.Repeated > 0 {
		text += fmt.Sprintf(" (repeated %s)", words.Count(h.Repeated, "time"))
	}
	return text
}

func (h Hazard) gravest() facts.Hazard {
	for _, one := range h.Hazards {
		if one.Action == facts.HazardDeny {
			return one
		}
	}
	if len(h.Hazards) == 0 {
		return facts.Hazard{}
	}
	return h.Hazards[0]
}

func first(h facts.Hazard) string {
	if len(h.Destinations) == 0 {
		return ""
	}
	return h.Destinations[0]
}

// KeyOfHazard is for hazards what KeyOf is for decisions: messages are left out,
// since they may name what differs from one try to the next.
func KeyOfHazard(h Hazard) RepeatKey {
	text := strconv.AppendBool([]byte("hazard "), h.Refused)
	for _, one := range h.Hazards {
		text = append(text, '\n')
		for _, word := range append([]string{string(one.Code), string(one.Stage), string(one.Action)}, one.Destinations...) {
			text = append(append(strconv.AppendInt(text, int64(len(word)), 10), ':'), word...)
		}
	}
	return RepeatKey{
		PodUID: h.Container.Pod.UID, Container: h.Container.Name, PolicySHA256: h.Policy.SHA256,
		Outcomes: sha256.Sum256(text),
	}
}

func (h Hazard) copied() (event Event, size int64) {
	h.Container = h.Container.copied()
	h.Hazards = slices.Clone(h.Hazards)
	for i := range h.Hazards {
		h.Hazards[i].Destinations = slices.Clone(h.Hazards[i].Destinations)
	}
	return h, itemsSize(len(h.Hazards))
}
