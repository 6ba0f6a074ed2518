package doctor

import "github.com/mountward/mountward/pkg/facts"

// Finding is the answer of one check about one subject.
type Finding struct {
	Code    string      `json:"code"`            // stable: "not-shared"
	Answer  facts.Truth `json:"answer"`          // yes: sound; no: a problem; unknown: cannot tell
	Subject string      `json:"subject"`         // a path, a unit, a container, a file
	Where   string      `json:"where,omitempty"` // the mount namespace: "runtime containerd[812] mnt:[4026531841]"
	Message string      `json:"message"`         // one sentence that reads alone; for unknown, why
	// Amount is how much of it there is, where that can grow: mounts in a pile,
	// mounts of a table. It is what a baseline compares; 0 is not counted.
	Amount int `json:"amount,omitempty"`
	// Evidence is never empty for yes and no.
	Evidence []Evidence `json:"evidence,omitempty"`
	Cause    string     `json:"cause,omitempty"`
	Effect   string     `json:"effect,omitempty"` // which modes fail, or do nothing
	Fixes    []Fix      `json:"fixes,omitempty"`  // the gentlest first
	// Containers that the problem is of, or that keep the old state after a fix.
	Containers []string `json:"containers,omitempty"`
}

// Evidence is what the kernel or a file says, and how to see it.
type Evidence struct {
	Text string `json:"text"`           // a mountinfo line, a file with its line number
	Show string `json:"show,omitempty"` // a command
}

// Fix is what mends a problem.
type Fix struct {
	What       string   `json:"what"`
	Commands   []string `json:"commands,omitempty"` // safe to run twice
	File       string   `json:"file,omitempty"`     // to be written, with Content
	Content    string   `json:"content,omitempty"`
	Add        bool     `json:"add,omitempty"` // Content is added to what File has
	Persistent bool     `json:"persistent"`    // outlives a reboot
}

// Check is one examination of a node.
type Check struct {
	Name string // "propagation"
	Run  func(*Snapshot) []Finding
}
