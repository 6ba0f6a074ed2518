package show

import (
	"github.com/mountward/mountward/pkg/internal/strict"
	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/lint"
	"github.com/mountward/mountward/pkg/policy"
)

// Checked is what "mountward check" says of a policy. Loads tells whether the
// daemon would load it; what stands below is of one that it would.
type Checked struct {
	Schema   string         `json:"schema"`
	Policy   string         `json:"policy"` // name of the main file
	Loads    bool           `json:"loads"`
	Errors   []Mistake      `json:"errors"`
	Findings []lint.Finding `json:"findings"`

	DropIns []string `json:"drop_ins,omitempty"`
	Mode    string   `json:"mode,omitempty"`
	Default string   `json:"default,omitempty"`
	Rules   int      `json:"rules,omitempty"`
	SHA256  string   `json:"sha256,omitempty"`
}

// Mistake keeps a policy from being loaded.
type Mistake struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

// NewChecked returns the document. p is nil where there are mistakes.
func NewChecked(name string, p *policy.Policy, mistakes strict.Errors, findings []lint.Finding) Checked {
	c := Checked{Schema: "mountward.check/v1", Policy: name, Errors: []Mistake{}, Findings: findings}
	if findings == nil {
		c.Findings = []lint.Finding{}
	}
	for _, m := range mistakes {
		c.Errors = append(c.Errors, Mistake{m.File, m.Line, m.Column, m.Message})
	}
	if p != nil {
		c.Loads, c.DropIns, c.Rules, c.SHA256 = true, p.DropIns, len(p.Rules), p.SHA256
		c.Mode, c.Default = string(p.Mode), string(p.Default)
	}
	return c
}

// Findings counts what lint found.
func Findings(n int) string { return words.Count(n, "finding") }
