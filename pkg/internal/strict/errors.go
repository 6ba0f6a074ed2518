package strict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/internal/mangle"
)

// Position is a place in a file. Line and Column start at 1; Column counts
// bytes.
type Position struct {
	File         string
	Line, Column int
}

// String returns "file:line:col", and only the file where no line is known. A file
// whose name does not print cannot forge a line.
func (p Position) String() string {
	file := mangle.Line(p.File)
	if p.Line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d:%d", file, p.Line, p.Column)
}

// Error is one thing that is wrong with a file.
type Error struct {
	Position
	Message string
}

// Error returns "file:line:col: message".
func (e Error) Error() string { return e.String() + ": " + e.Message }

// Errors is everything that is wrong with a file, in the order of the file.
type Errors []Error

// Error returns the errors, one a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Err returns the errors sorted by position and without repetitions, and nil
// when there are none.
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	slices.SortStableFunc(e, func(a, b Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(e)
}
