package show

import (
	"github.com/mountward/mountward/pkg/exposure"
	"github.com/mountward/mountward/pkg/target"
)

// The names of the JSON of Exposure and Writers.
const (
	ExposureSchema = "mountward.exposure/v1"
	WritersSchema  = "mountward.writers/v1"
)

// Exposure is what the verb "exposure" found.
type Exposure struct {
	Schema   string          `json:"schema"`
	Node     ExposedNode     `json:"node"`
	Targets  []target.Target `json:"targets"`
	Searched Searched        `json:"searched"`
	exposure.Report
}

// Writers is what it found with --writers.
type Writers struct {
	Schema   string          `json:"schema"`
	Node     ExposedNode     `json:"node"`
	Targets  []target.Target `json:"targets"`
	Searched Searched        `json:"searched"`
	exposure.WriterReport
}

// ExposedNode is which node it was: mount ids, and inodes of namespaces, are
// those of one boot.
type ExposedNode struct {
	Node
	Hostname string `json:"hostname,omitempty"`
	BootID   string `json:"boot_id,omitempty"`
	// MountNamespaces are the node's own, the runtime's first.
	MountNamespaces []uint64 `json:"mount_namespaces"`
}

// Searched is how the namespaces were found.
type Searched struct {
	Rung       string `json:"rung"` // "kernel" or "proc"
	Containers int    `json:"containers"`
}
