package audit

import (
	"fmt"

	"github.com/mountward/mountward/pkg/journal"
)

// maxRepeats bounds how often one name comes in a record. journald drops a
// record with more than journal.MaxFields fields; five repeatable names stay
// below it.
const maxRepeats = 180

// fields are the flat fields of one record, in order.
type fields []journal.Field

// add adds a field; an empty value is not sent.
func (f *fields) add(name, value string) {
	if value != "" {
		*f = append(*f, journal.String(name, value))
	}
}

// each adds one field for every value, each value once. What is beyond
// maxRepeats is in MOUNTWARD_RECORD, and the last field says so.
func (f *fields) each(name string, values []string) {
	seen := make(map[string]bool, len(values))
	for _, value := range values {
		if value == "" || seen[value] {
			continue
		}
		seen[value] = true
		if len(seen) <= maxRepeats {
			f.add(name, value)
		}
	}
	if more := len(seen) - maxRepeats; more > 0 {
		f.add(name, fmt.Sprintf("... and %d more: see MOUNTWARD_RECORD", more))
	}
}

// container adds the fields other tools search by (as docker's journald log
// driver names them) and ours.
func (f *fields) container(c Container) {
	f.add("CONTAINER_ID", short(c.ID))
	f.add("CONTAINER_ID_FULL", c.ID)
	f.add("CONTAINER_NAME", c.Name)
	f.add("IMAGE_NAME", c.Image)
	f.add("MOUNTWARD_NAMESPACE", c.Pod.Namespace)
	f.add("MOUNTWARD_POD", c.Pod.Name)
	f.add("MOUNTWARD_POD_UID", c.Pod.UID)
	f.add("MOUNTWARD_CONTAINER", c.Name)
}

func (f *fields) policy(p Policy) {
	f.add("MOUNTWARD_MODE", p.Mode)
	f.add("MOUNTWARD_POLICY", p.Name)
	f.add("MOUNTWARD_POLICY_SHA256", p.SHA256)
}
