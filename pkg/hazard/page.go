package hazard

import (
	"embed"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

//go:embed pages/*.txt
var pages embed.FS

// Page returns what there is to know of a code, as plain text: what it is, why
// it is dangerous, how to see it on a node, how to cure it, and how the policy
// switches it. It returns false for a code that there is not.
func Page(code facts.HazardCode) (string, bool) {
	text, err := pages.ReadFile("pages/" + string(code) + ".txt")
	return string(text), err == nil
}

// Title returns what a code stands for, in some words; "" for one that there is
// not.
func Title(code facts.HazardCode) string {
	text, _ := Page(code)
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimPrefix(line, string(code)+" ")
}
