package hazard

import (
	"embed"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/pages"
)

//go:embed pages/*.txt
var files embed.FS

// Page returns what there is to know of a code, as plain text: what it is, why
// it is dangerous, how to see it on a node, how to cure it, and how the policy
// switches it. It returns false for a code that there is not.
func Page(code facts.HazardCode) (string, bool) { return pages.Page(files, string(code)) }

// Title returns what a code stands for, in some words; "" for one that there is
// not.
func Title(code facts.HazardCode) string { return pages.Title(files, string(code)) }
