package policy

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/strict"
)

// Parse reads a policy: its main file and its drop-ins, whose rules follow in
// the order given. The error is of type strict.Errors and holds everything that
// is wrong, each with its position, file by file.
func Parse(main File, dropIns ...File) (*Policy, error) {
	if err := tooLarge(main, dropIns); err != nil {
		return nil, err
	}
	c := &compiler{policy: &Policy{Name: main.Name, SHA256: Sum(main, dropIns...)}, names: map[string]string{}}
	var wrong strict.Errors
	read := func(f File, content func(*rawFile)) {
		var raw rawFile
		document, err := strict.Decode(f.Name, f.Data, &raw)
		if err == nil {
			c.document, c.errors = document, nil
			content(&raw)
			err = c.errors.Err()
		}
		var these strict.Errors
		errors.As(err, &these)
		wrong = append(wrong, these...)
	}
	read(main, c.main)
	for _, f := range dropIns {
		c.policy.DropIns = append(c.policy.DropIns, f.Name)
		read(f, c.dropIn)
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	c.policy.globs, c.policy.prefixes, c.policy.asked = c.globs, c.sources, asked(c.policy.Rules)
	return c.policy, nil
}

// tooLarge keeps all files together within what one may have.
func tooLarge(main File, dropIns []File) error {
	size := len(main.Data)
	for _, f := range dropIns {
		if size += len(f.Data); size > strict.MaxSize {
			return strict.Errors{{Position: strict.Position{File: f.Name, Line: 1, Column: 1}, Message: "the policy's files up to this one are larger than 1 MiB together"}}
		}
	}
	return nil // a main file alone is judged when it is decoded
}

// compiler turns decoded files into a policy and collects what is wrong.
type compiler struct {
	policy   *Policy
	names    map[string]string // of rules, with their positions
	document *strict.Document  // of the file that is read
	errors   strict.Errors     // in it
	globs    []*pathGlob
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

// main reads the file that speaks for the whole policy.
func (c *compiler) main(raw *rawFile) {
	p := c.policy
	p.Version, p.Mode, p.Default, p.position = raw.Version, Mode(raw.Mode), facts.Action(raw.Default), c.line("default")
	switch {
	case !c.document.Has("version"):
		c.fail(nil, `"version" is missing: write version = 1`)
	case raw.Version != 1:
		c.fail([]any{"version"}, "version %d is not known: this build reads version 1", raw.Version)
	}
	c.word([]any{"mode"}, raw.Mode, string(ModeAudit), string(ModeEnforce))
	c.word([]any{"default"}, raw.Default, string(facts.ActionAllow), string(facts.ActionDeny))
	p.defaultAt, p.ignore = c.document.At("default"), c.ignored([]any{"lint_ignore"}, raw.LintIgnore)
	c.content(raw)
}

// dropIn reads a file that adds rules.
func (c *compiler) dropIn(raw *rawFile) {
	for _, key := range []string{"version", "default", "mode", "lint_ignore"} {
		if c.document.Has(key) {
			hint := ""
			switch key {
			case "mode":
				hint = `, or write mode = "audit" in the rules that are to be tried first`
			case "lint_ignore":
				hint = ", or write it in the rules it is for"
			}
			c.fail([]any{key}, "%q belongs to the whole policy and stands in %s alone: remove it here%s", key, c.policy.Name, hint)
		}
	}
	c.content(raw)
}

// content reads what every file may have.
func (c *compiler) content(raw *rawFile) {
	c.hazards(raw.Hazards)
	before := len(c.policy.Rules)
	if n := before + len(raw.Rules); n > MaxRules {
		c.fail([]any{"rule", MaxRules - before}, "a policy has at most %d rules, this one has %d", MaxRules, n)
		return
	}
	for i := range raw.Rules {
		name := raw.Rules[i].Name
		if first, ok := c.names[name]; ok && name != "" {
			c.fail([]any{"rule", i, "name"}, "two rules have the name %q, the first is at %s", name, first)
		} else {
			c.names[name] = c.line("rule", i, "name")
		}
		c.policy.Rules = append(c.policy.Rules, c.rule(i, &raw.Rules[i]))
	}
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
