//go:build linux

package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"
)

// faultsShown is how many faults of one kind are told in full.
const faultsShown = 3

// isOurs says whether an error is the plugin's refusal.
func isOurs(err error) bool { return ourRefusal(err) != "" }

// ourRefusal is the part of an error that mountward wrote, "" if it is none of
// its refusals.
func ourRefusal(err error) string {
	if err == nil {
		return ""
	}
	_, text, ok := strings.Cut(err.Error(), ours)
	if !ok {
		return ""
	}
	return ours + text
}

// report tells what happened to containers that were wronged.
func (c *chaos) report() error {
	if len(c.faults) == 0 {
		return nil
	}
	records, _, err := c.records()
	if err != nil {
		return err
	}
	log, err := os.ReadFile(c.node.Log)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	byKey := make(map[string]*try)
	for _, t := range c.history.tries() {
		byKey[t.key] = t
	}
	shown := make(map[string]int)
	for _, f := range c.faults {
		if shown[f.name]++; shown[f.name] > faultsShown {
			continue
		}
		c.say("%s: %s", f.name, f.why)
		if t := byKey[f.key]; t != nil {
			c.history.print(c.out, t, records, string(log))
		}
	}
	return nil
}
