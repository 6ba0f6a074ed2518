package show

import (
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// table writes columns in which every cell is fit for a line. The last column
// may be as long as it likes; the others are cut, or one cell would make every
// line as long.
type table struct{ w *tabwriter.Writer }

// newTable begins a table; without columns it has no header.
func newTable(w io.Writer, columns ...string) table {
	t := table{tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)}
	if len(columns) > 0 {
		t.row(columns...)
	}
	return t
}

// widest is how many characters of a cell are shown.
const widest = 120

func (t table) row(cells ...string) {
	cells = slices.Clone(cells)
	for i, cell := range cells[:len(cells)-1] {
		if utf8.RuneCountInString(cell) > widest {
			cells[i] = string([]rune(cell)[:widest-3]) + "..."
		}
	}
	_, _ = io.WriteString(t.w, strings.Join(cells, "\t")+"\n") // kept in memory until flush
}

func (t table) flush() error { return t.w.Flush() }
