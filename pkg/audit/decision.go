package audit

import (
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// Decision is recorded once a container at CreateContainer, when something was
// changed, refused or would have been, or when an audit rule matched.
type Decision struct {
	Container Container       `json:"container"`
	Policy    Policy          `json:"policy"`
	Refused   bool            `json:"refused"`                 // the creation was answered with an error
	Owner     string          `json:"owner_message,omitempty"` // what the owner of the pod was told
	Outcomes  []facts.Outcome `json:"outcomes"`
	Findings  []facts.Finding `json:"findings,omitempty"`
	Repeated  int             `json:"repeated,omitempty"` // times since the last record; see Repeats
}

func (d Decision) describe() description {
	message, priority := d.headline()
	desc := description{kind: kindDecision(), priority: priority, message: message}
	f := &desc.fields
	f.container(d.Container)
	f.policy(d.Policy)

	var rules, mounts, devices, findings []string
	for _, o := range d.Outcomes {
		rules = append(append(rules, o.Rule), o.Noted()...)
		mounts = append(mounts, outcomeText(o))
		if o.Mount.Host != nil && !o.Mount.Host.Device.IsZero() {
			devices = append(devices, o.Mount.Host.Device.String())
		}
	}
	for _, finding := range d.Findings {
		findings = append(findings, findingText(finding))
	}
	f.each("MOUNTWARD_RULE", rules)
	f.each("MOUNTWARD_MOUNT", mounts)
	f.each("MOUNTWARD_DEVICE", devices)
	f.each("MOUNTWARD_FINDING", findings)
	return desc
}

// outcomeText is one MOUNTWARD_MOUNT: the destination as it is and what became
// of it.
func outcomeText(o facts.Outcome) string {
	text := o.Mount.Destination + " " + change(o) + ": "
	if o.Would {
		text += "would be "
	}
	text += string(o.Result)
	if o.Reason != "" {
		text += " (" + o.Reason + ")"
	}
	for _, s := range o.Shadow {
		text += "; " + shadow(s)
	}
	return text
}

func findingText(f facts.Finding) string {
	parts := []string{f.Code, f.Mount, f.Message}
	if f.Mount == "" {
		parts = []string{f.Code, f.Message}
	}
	return strings.Join(parts, ": ")
}

// change is "rprivate -> rslave", or one word where nothing is to change.
func change(o facts.Outcome) string {
	if o.Decided == facts.Unset || o.Decided == o.Asked {
		return option(o.Asked)
	}
	return option(o.Asked) + " -> " + option(o.Decided)
}
