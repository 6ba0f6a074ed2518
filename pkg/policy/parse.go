package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/strict"
)

// Parse reads a policy. The error is of type strict.Errors and holds
// everything that is wrong with the file, each with its position.
func Parse(f File) (*Policy, error) {
	var raw rawFile
	document, err := strict.Decode(f.Name, f.Data, &raw)
	if err != nil {
		return nil, err
	}
	c := &compiler{document: document}
	p := c.policy(&raw)
	if err := c.errors.Err(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(f.Data)
	p.Name, p.SHA256 = f.Name, hex.EncodeToString(sum[:])
	return p, nil
}

// compiler turns a decoded file into a policy and collects what is wrong.
type compiler struct {
	document *strict.Document
	errors   strict.Errors
	globs    int
	sources  []*pathGlob
}

func (c *compiler) fail(at []any, format string, args ...any) {
	c.errors = append(c.errors, strict.Error{Position: c.document.At(at...), Message: fmt.Sprintf(format, args...)})
}

// line returns FILE:LINE of a value.
func (c *compiler) line(at ...any) string {
	p := c.document.At(at...)
	return p.File + ":" + strconv.Itoa(p.Line)
}

func (c *compiler) policy(raw *rawFile) *Policy {
	p := &Policy{Version: raw.Version, Mode: Mode(raw.Mode), Default: facts.Action(raw.Default), position: c.line("default")}
	switch {
	case !c.document.Has("version"):
		c.fail(nil, `"version" is missing: write version = 1`)
	case raw.Version != 1:
		c.fail([]any{"version"}, "version %d is not known: this build reads version 1", raw.Version)
	}
	c.word([]any{"mode"}, raw.Mode, string(ModeAudit), string(ModeEnforce))
	c.word([]any{"default"}, raw.Default, string(facts.ActionAllow), string(facts.ActionDeny))
	p.Hazards = c.hazards(raw.Hazards)
	if len(raw.Rules) > MaxRules {
		c.fail([]any{"rule", MaxRules}, "a policy has at most %d rules, this one has %d", MaxRules, len(raw.Rules))
		return p
	}
	names := make(map[string]int, len(raw.Rules))
	p.Rules = make([]Rule, 0, len(raw.Rules))
	for i := range raw.Rules {
		name := raw.Rules[i].Name
		if first, ok := names[name]; ok && name != "" {
			c.fail([]any{"rule", i, "name"}, "two rules have the name %q, the first is at %s", name, c.line("rule", first, "name"))
		} else {
			names[name] = i
		}
		p.Rules = append(p.Rules, c.rule(i, &raw.Rules[i]))
	}
	p.globs, p.prefixes = c.globs, c.sources
	return p
}

// word checks a mandatory key that takes one of a few words.
func (c *compiler) word(at []any, value string, known ...string) {
	want := or(known, func(s string) string { return s })
	key := at[len(at)-1]
	if !c.document.Has(at...) {
		c.fail(at, "%q is missing: it must be %s", key, want)
		return
	}
	for _, k := range known {
		if value == k {
			return
		}
	}
	c.fail(at, "%q must be %s, not %q", key, want, value)
}
