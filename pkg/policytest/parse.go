package policytest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mountward/mountward/pkg/internal/strict"
)

// Suffix ends the names of test files.
const Suffix = "_test.toml"

// maxName bounds the name of a test, in bytes.
const maxName = 200

// Parse reads a test file. The error is of type strict.Errors and holds
// everything that is wrong with the file, each with its position: also that it
// tests nothing.
func Parse(name string, data []byte) (*File, error) {
	var raw rawFile
	document, err := strict.Decode(name, data, &raw)
	if err != nil {
		return nil, err
	}
	p := &parser{document: document}
	f := p.file(name, &raw)
	if err := p.errors.Err(); err != nil {
		return nil, err
	}
	return f, nil
}

// parser turns a decoded file into tests and collects what is wrong.
type parser struct {
	document *strict.Document
	errors   strict.Errors
}

func (p *parser) fail(at []any, format string, args ...any) {
	p.errors = append(p.errors, strict.Error{Position: p.document.At(at...), Message: fmt.Sprintf(format, args...)})
}

// line returns FILE:LINE of a value.
func (p *parser) line(at ...any) string {
	position := p.document.At(at...)
	return position.File + ":" + strconv.Itoa(position.Line)
}

func (p *parser) file(name string, raw *rawFile) *File {
	f := &File{Name: name, Policy: p.globs("policy", raw.Policy), DropIns: p.globs("drop_ins", raw.DropIns)}
	if len(raw.Policy) == 0 {
		p.fail([]any{"policy"}, `"policy" is missing: name the policy that is tested, such as policy = ["policy.toml"]`)
	}
	for i, glob := range raw.Policy {
		if glob == "" {
			p.fail([]any{"policy", i}, "an empty name is no policy")
		}
	}
	for i, glob := range raw.DropIns {
		if glob == "" {
			p.fail([]any{"drop_ins", i}, "an empty name is no drop-in")
		}
	}
	host := DefaultHost()
	if raw.Host != nil {
		host = p.host([]any{"host"}, raw.Host, host)
	}
	f.Host = host
	if len(raw.Tests) == 0 && raw.Workloads == nil {
		p.fail([]any{"test"}, "the file has no [[test]] and would pass whatever the policy says")
	}
	names := make(map[string]int, len(raw.Tests))
	for i := range raw.Tests {
		name := raw.Tests[i].Name
		if first, ok := names[name]; ok && name != "" {
			p.fail([]any{"test", i, "name"}, "two tests have the name %q, the first is at %s", name, p.line("test", first, "name"))
		} else {
			names[name] = i
		}
		f.Cases = append(f.Cases, p.test(i, &raw.Tests[i], host))
	}
	f.Workloads = p.workloads(raw.Workloads)
	return f
}

func (p *parser) globs(key string, texts []string) []Glob {
	var all []Glob
	for i, text := range texts {
		all = append(all, Glob{text, p.document.At(key, i).String()})
	}
	return all
}

func (p *parser) workloads(raw *rawWorkloads) *Workloads {
	if raw == nil {
		return nil
	}
	if raw.Table == "" {
		p.fail([]any{"workloads", "table"}, `"table" is missing: name the CSV file with the workloads`)
	}
	w := &Workloads{Table: raw.Table, At: p.document.At("workloads", "table").String()}
	for i, glob := range raw.Breaks {
		at := []any{"workloads", "breaks", i}
		p.oneLine(at, "breaks", glob)
		if glob == "" {
			p.fail(at, "an empty name is for no workload")
		}
		w.Breaks = append(w.Breaks, Named{glob, p.line(at...)})
	}
	return w
}

// oneLine checks a text that is shown to people in the middle of a line.
func (p *parser) oneLine(at []any, key, text string) {
	if len(text) > maxName {
		p.fail(at, "%q is longer than %d bytes", key, maxName)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		p.fail(at, "%q must be one line without control characters", key)
	}
}

// oneOf checks a key that takes one of a few words.
func (p *parser) oneOf(at []any, value string, known ...string) {
	for _, k := range known {
		if value == k {
			return
		}
	}
	p.fail(at, "%q must be %s, not %q", at[len(at)-1], or(known), value)
}

func or(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = strconv.Quote(word)
	}
	return strings.Join(quoted, " or ")
}
