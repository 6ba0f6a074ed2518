package lint

import (
	"embed"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/pages"
)

//go:embed pages/*.txt
var files embed.FS

// Page returns what there is to know of a code, as plain text: what it is, why
// it matters, how to see what it does, how to fix it, a policy before and after,
// and how to silence it. It returns false for a code that there is not.
func Page(code facts.LintCode) (string, bool) { return pages.Page(files, string(code)) }

// Title returns what a code stands for, in some words; "" for one that there is
// not.
func Title(code facts.LintCode) string { return pages.Title(files, string(code)) }
