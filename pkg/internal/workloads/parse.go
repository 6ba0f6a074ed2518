package workloads

import (
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
	table := csv.NewReader(r)
	header, err := table.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	columns, err := columnsOf(header)
	if err != nil {
		return nil, fmt.Errorf("%s:1: %w", name, err)
	}
	var all []Workload
	index := map[[5]string]int{}
	for {
		record, err := table.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		row := row{columns, record}
		m, err := row.mount(root)
		if err != nil {
			line, _ := table.FieldPos(0)
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
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
		return nil, fmt.Errorf("%s: the table has no workload", name)
	}
	return all, nil
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
