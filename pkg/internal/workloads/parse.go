package workloads

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// Columns are those that every table has, in the order of the shipped one. The
// column source says where a line comes from and is not read.
const Columns = "source,project,workload,container,hostPath,mountPath,mountPropagation,readOnly,privileged"

// ColumnNamespace is one that a table may have.
const ColumnNamespace = "namespace"

// Parse reads a table: a line a mount; the mounts of one container are those
// with the same source, project, workload and container. Paths below
// /var/lib/kubelet are moved to root. Roles are not computed.
//
// A cell holds what a manifest has, or in some places what its chart computes;
// see [mount].
func Parse(name string, r io.Reader, root string) ([]Workload, error) {
	in := withoutMark(r)
	table := csv.NewReader(in)
	table.Comma = separator(in)
	header, err := table.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, unread(name, err)
	}
	columns, err := columnsOf(header)
	if err != nil {
		return nil, fmt.Errorf("%s:1:1: %w", name, err)
	}
	var all []Workload
	index := map[[5]string]int{}
	for {
		record, err := table.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, unread(name, err)
		}
		row := row{columns, record}
		m, err := row.mount(root)
		if err != nil {
			cell := 0
			if wrong := (wrongCell{}); errors.As(err, &wrong) {
				cell = columns[wrong.column]
			}
			line, column := table.FieldPos(cell)
			return nil, fmt.Errorf("%s:%d:%d: %w", name, line, column, err)
		}
		group := [5]string{row.get("source"), row.get("project"), row.get("workload"), row.get("container"), row.get(ColumnNamespace)}
		i, ok := index[group]
		if !ok {
			i = len(all)
			index[group] = i
			all = append(all, row.workload())
		}
		all[i].Container.Mounts = append(all[i].Container.Mounts, m)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s:1:1: the table has no workload", name)
	}
	return all, nil
}

// withoutMark takes off the byte order mark that Excel writes.
func withoutMark(r io.Reader) *bufio.Reader {
	b := bufio.NewReader(r)
	if start, err := b.Peek(3); err == nil && string(start) == "\ufeff" {
		_, _ = b.Discard(3) // which are there
	}
	return b
}

// separator is what stands between the cells of the first line: Excel writes
// semicolons where people write a comma into their numbers.
func separator(b *bufio.Reader) rune {
	start, _ := b.Peek(1024) // as much as there is
	header, _, _ := strings.Cut(string(start), "\n")
	if strings.Contains(header, ";") && !strings.Contains(header, ",") {
		return ';'
	}
	return ','
}

// unread tells where a table is no table.
func unread(name string, err error) error {
	var at *csv.ParseError
	switch {
	case !errors.As(err, &at):
		return fmt.Errorf("%s: %w", name, err)
	case errors.Is(err, csv.ErrFieldCount):
		return fmt.Errorf("%s:%d:%d: the line has more or fewer cells than the first one", name, at.Line, at.Column)
	default:
		return fmt.Errorf("%s:%d:%d: %w", name, at.Line, at.Column, at.Err)
	}
}

// wrongCell is what is wrong in a column of a line.
type wrongCell struct{ column, message string }

func (w wrongCell) Error() string { return w.message }

func wrong(column, format string, args ...any) error {
	return wrongCell{column, fmt.Sprintf(format, args...)}
}

func columnsOf(header []string) (map[string]int, error) {
	mandatory := strings.Split(Columns, ",")
	columns := map[string]int{}
	for i, name := range header {
		if !slices.Contains(mandatory, name) && name != ColumnNamespace {
			return nil, fmt.Errorf("unknown column %q: a table has %s, and may have %s", name, Columns, ColumnNamespace)
		}
		if _, ok := columns[name]; ok {
			return nil, fmt.Errorf("column %q is there twice", name)
		}
		columns[name] = i
	}
	for _, name := range mandatory {
		if _, ok := columns[name]; !ok {
			return nil, fmt.Errorf("column %q is missing: the first line is %s", name, Columns)
		}
	}
	return columns, nil
}

type row struct {
	columns map[string]int
	cells   []string // as many as the first line has
}

// get returns a cell, "" of a column that the table does not have.
func (r row) get(column string) string {
	if i, ok := r.columns[column]; ok {
		return r.cells[i]
	}
	return ""
}

func (r row) workload() Workload {
	return Workload{
		Name: strings.Join([]string{r.get("project"), r.get("workload"), r.get("container")}, " / "),
		Container: facts.Container{
			Name: strings.TrimPrefix(r.get("container"), "init:"), Pod: facts.Pod{Namespace: r.get(ColumnNamespace), Name: r.get("workload"), UID: podUID},
			Privileged: facts.Is(r.get("privileged") == "yes", "the manifest says so"),
		},
	}
}
