package lint

import (
	"path/filepath"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/strict"
)

// skipped reports files that look like drop-ins and are none.
func (l *linter) skipped() {
	for _, name := range l.options.Skipped {
		l.report(facts.LintSkipped, nil, strict.Position{File: name, Line: 1, Column: 1}, "%s is not read: a drop-in's name ends in .toml, in small letters; rename it, or move it out of the directory", filepath.Base(name))
	}
}
