package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// split cuts a file at the lines that begin a YAML document. Nothing within a
// document can look like one: YAML 1.2 section 9.1.2.
func split(data []byte) (texts [][]byte, lines []int) {
	start, first, line := 0, 0, 0
	add := func(end int) {
		texts, lines = append(texts, data[start:end]), append(lines, first)
	}
	for at := 0; at < len(data); line++ {
		end := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if marks(data[at:end]) {
			add(at)
			start, first = at+len("---"), line
		}
		at = end
	}
	add(len(data))
	return texts, lines
}

func marks(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) && (len(line) == 3 || strings.IndexByte(" \t\r\n", line[3]) >= 0)
}

// Error is what is wrong with a file, and where.
type Error struct {
	Line int // of the file, from 1; 0 where it is about no line
	Err  error
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// placed is an error at a line of a document, from 1.
type placed struct {
	line int
	error
}

func (p *placed) Unwrap() error { return p.error }

// locate says where an error is, unless that is known nearer.
func locate(line int, err error) error {
	var nearer *placed
	if err == nil || line == 0 || errors.As(err, &nearer) {
		return err
	}
	return &placed{line, err}
}

// at makes an error in a document one of the file, where the document begins after
// so many lines.
func at(err error, before int) error {
	line := 1
	if p := (*placed)(nil); errors.As(err, &p) {
		line = p.line
	}
	return &Error{line + before, errors.New(err.Error())}
}

// decode reads a value, and gives errors their place.
func decode(n *yaml.Node, to any) error {
	if err := n.Decode(to); err != nil {
		return parsed(err)
	}
	return nil
}

var (
	lineNumber = regexp.MustCompile(`^line (\d+): `)
	ourTypes   = regexp.MustCompile(`into (?:(\[\]\S+)|map\[\S+|\S*\bmanifest\.\w+|struct \{.*\})$`)
)

// parsed is an error of the YAML parser: the first of several, at its line, and
// without the types of this package.
func parsed(err error) error {
	var nearer *placed
	if errors.As(err, &nearer) {
		return err
	}
	text, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:\n  "), "\n")
	line := 0
	if m := lineNumber.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1]) // digits
		text = text[len(m[0]):]
	}
	text = ourTypes.ReplaceAllStringFunc(text, func(s string) string {
		if strings.HasPrefix(s, "into []") {
			return "into a list"
		}
		return "into an object"
	})
	return locate(line, errors.New(text))
}
