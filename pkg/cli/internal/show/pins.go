package show

import (
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/pins"
)

// PinsSchema names the JSON of Pins.
const PinsSchema = "mountward.pins/v1"

// Pins is what the verb "pins" found.
type Pins struct {
	Schema  string               `json:"schema"`
	Node    Node                 `json:"node"`
	Groups  []pins.Group         `json:"groups"`
	Reports []pins.Report        `json:"targets"`
	Unknown []namespaces.Unknown `json:"unknown"` // of the node, not of one target
}
