//go:build linux

package main

import (
	"fmt"
	"io"
	"sync"
)

// figure is one number that a run prints.
type figure struct {
	name, unit string
	zero       bool // it must be 0
}

// figureList is in the order of the output.
func figureList() []figure {
	return []figure{
		{"pods", "pods", false},
		{"started", "containers", false},          // their own code ran, before the host changes
		{"refused", "containers", false},          // by the policy
		{"overdue", "requests", false},            // that were refused because the plugin was stopped for too long
		{"late", "requests", false},               // the same where nobody had stopped it: the machine was slow, or the plugin is
		{"kept_out", "creations", false},          // that failed for another reason, such as a missing plugin
		{"kills", "kills", false},                 // of the plugin and of containerd
		{"stalls", "stalls", false},               // of the plugin, longer than a request may take
		{"forbidden_started", "containers", true}, // with more propagation than the policy allows
		{"unadjusted", "containers", true},        // as asked, where the policy decided otherwise
		{"less_than_decided", "containers", true},
		{"cgroups_shared", "containers", false},   // by runc, where anything is rshared and cgroups are v1
		{"namespace_missed", "containers", false}, // as asked, by a kill between creation and start
		{"namespace_unfound", "containers", true}, // of those, without a record that says so
		{"stuck", "pods", true},                   // that could not be had, or not be removed
		{"lost_records", "containers", true},
		{"lost_refusals", "containers", true},
		{"torn_records", "lines", true},
		{"crashes", "processes", true}, // of the plugin, by itself
		{"starts", "starts", false},    // while the host changed
		{"false_refusals", "starts", true},
		{"swaps", "starts", false}, // that must be refused
		{"missed_swaps", "starts", true},
		{"leaked_mounts", "mounts", true},
		{"leaked_processes", "processes", true},
		{"runtime_orphans", "shims", false}, // that containerd itself forgot when it was killed
		{"leaked_entries", "files", true},   // of the runtime directory
		{"leaked_fds", "fds", true},         // of a plugin that lived through restarts of containerd
		{"leaked_goroutines", "goroutines", true},
	}
}

// fault is one thing that must not be.
type fault struct{ name, key, why string }

// tally counts.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
	faults []fault
}

func (t *tally) count(name string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[name] += n
}

// fault counts one of a figure that must be 0. key is that of the container, or
// "".
func (t *tally) fault(name, key, why string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[name]++
	t.faults = append(t.faults, fault{name, key, why})
}

// print prints the figures.
func (t *tally) print(w io.Writer) {
	for _, f := range figureList() {
		fmt.Fprintf(w, "FIGURE chaos.%s %d %s\n", f.name, t.counts[f.name], f.unit)
	}
}

// wrong are the figures that must be 0 and are not.
func (t *tally) wrong() []string {
	var names []string
	for _, f := range figureList() {
		if f.zero && t.counts[f.name] != 0 {
			names = append(names, fmt.Sprintf("%s is %d", f.name, t.counts[f.name]))
		}
	}
	return names
}
