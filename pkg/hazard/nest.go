package hazard

import (
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// nest relates clean absolute paths of which some lie below others. It takes
// about as long as sorting them. A walk upward has at most half as many steps
// as the path has bytes.
type nest struct {
	node  []int // of each path; equal paths have one
	above []int // the nearest node above each node, -1 for none
}

func newNest(paths []string) nest {
	order := make([]int, len(paths))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(paths[a], paths[b]) })
	n := nest{node: make([]int, len(paths)), above: make([]int, 0, len(paths))}
	var open []string // the paths from the top down to the last one
	var nodes []int
	for _, i := range order {
		p := paths[i]
		for len(open) > 0 && !facts.Within(p, open[len(open)-1]) {
			open, nodes = open[:len(open)-1], nodes[:len(nodes)-1]
		}
		if len(open) == 0 || open[len(open)-1] != p {
			above := -1
			if len(nodes) > 0 {
				above = nodes[len(nodes)-1]
			}
			open, nodes = append(open, p), append(nodes, len(n.above))
			n.above = append(n.above, above)
		}
		n.node[i] = nodes[len(nodes)-1]
	}
	return n
}

// compare orders paths so that all that lie below one follow it.
func compare(a, b string) int {
	a, b = strings.TrimSuffix(a, "/"), strings.TrimSuffix(b, "/") // "/" is above all
	for i := range min(len(a), len(b)) {
		switch {
		case a[i] == b[i]:
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		default:
			return int(a[i]) - int(b[i])
		}
	}
	return len(a) - len(b)
}

// stacked tells how mounts lie that are made one after the other at the paths
// of a nest.
type stacked struct {
	on     []int // the earlier mount that each was made on, -1 for none
	hidden []int // the later mount above each that hides it, -1 for none
}

// stack makes the mounts. Of the earlier mounts at a path and above it the last
// one is the one seen there: it hides whatever of them was there before.
func (n nest) stack() stacked {
	s := stacked{on: make([]int, len(n.node)), hidden: make([]int, len(n.node))}
	last := make([]int, len(n.above))
	for i := range last {
		last[i] = -1
	}
	for i, node := range n.node {
		s.on[i] = n.latest(last, node)
		last[node] = i
	}
	for i, node := range n.node {
		if s.hidden[i] = n.latest(last, n.above[node]); s.hidden[i] < i {
			s.hidden[i] = -1
		}
	}
	return s
}

// latest returns the last mount at a node or above it.
func (n nest) latest(last []int, node int) int {
	found := -1
	for ; node >= 0; node = n.above[node] {
		found = max(found, last[node])
	}
	return found
}
