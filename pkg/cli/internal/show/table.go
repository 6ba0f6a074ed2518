package show

import (
	"io"
	"strings"
	"text/tabwriter"
)

// table writes columns in which every cell is fit for a line. The last column
// may be as long as it likes.
type table struct{ w *tabwriter.Writer }

func newTable(w io.Writer, columns ...string) table {
	t := table{tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)}
	t.row(columns...)
	return t
}

func (t table) row(cells ...string) {
	_, _ = io.WriteString(t.w, strings.Join(cells, "\t")+"\n") // kept in memory until flush
}

func (t table) flush() error { return t.w.Flush() }
