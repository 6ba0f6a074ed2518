//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// record is what the test reads of a line of the trail.
type record struct {
	Schema    string    `json:"schema"`
	Time      time.Time `json:"time"`
	Message   string    `json:"message"`
	Refused   bool      `json:"refused"`
	Container struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Pod  struct {
			UID string `json:"uid"`
		} `json:"pod"`
	} `json:"container"`
	Findings []finding `json:"findings"`
}

type finding struct {
	Code string `json:"code"`
}

// event is "decision" of "mountward.decision/v1".
func (r record) event() string {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.Schema, "mountward."), "/")
	return name
}

// key is that of the try which the record is about.
func (r record) key() string { return r.Container.Pod.UID + "." + r.Container.Name }

func (r record) about(t *try) bool {
	return r.key() == t.key || t.id != "" && r.Container.ID == t.id
}

// records reads the trail, and the lines that are no records, as a writer could
// leave them that is killed.
func (c *chaos) records() (all []record, torn []string, err error) {
	text, err := os.ReadFile(c.ward.Audit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read trail: %w", err)
	}
	for line := range bytes.Lines(text) {
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			torn = append(torn, fmt.Sprintf("%v in %q", err, line))
			continue
		}
		all = append(all, r)
	}
	return all, torn, nil
}

// judgeRecords finds containers that ran and that the trail does not know, and
// refusals that it does not know.
func (c *chaos) judgeRecords(records []record) error {
	ran, refused, found := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, r := range records {
		if r.event() == "drift" || r.event() == "missed" || len(r.Findings) > 0 {
			found[r.key()] = true
		}
		switch r.event() {
		case "decision", "task", "missed":
			for _, key := range []string{r.key(), r.Container.ID} {
				ran[key] = true
				refused[key] = refused[key] || r.Refused
			}
		case "drift":
			for _, key := range []string{r.key(), r.Container.ID} {
				refused[key] = refused[key] || r.Refused
			}
		}
	}
	for _, t := range c.history.tries() {
		table, err := c.ran(t.key)
		if err != nil {
			return err
		}
		if table != nil && !ran[t.key] && (t.id == "" || !ran[t.id]) {
			c.fault("lost_records", t.key, "its own code ran, and there is no decision, task or missed record of it")
		}
		if t.missed && !found[t.key] {
			c.fault("namespace_unfound", t.key, "it runs as it asked, and no record says so")
		}
		if t.refused != "" && !refused[t.key] {
			c.fault("lost_refusals", t.key, "it was refused, and there is no record of that: "+t.refused)
		}
	}
	return nil
}
