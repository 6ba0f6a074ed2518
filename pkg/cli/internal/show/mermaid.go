package show

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// diagram is a flowchart of Mermaid, from left to right. Its ids are made here,
// never from input.
type diagram struct {
	ids   map[string]string // by what the caller knows a node as
	nodes bytes.Buffer
	links bytes.Buffer
	drawn map[string]bool // links, each once
}

func newDiagram() *diagram {
	return &diagram{ids: map[string]string{}, drawn: map[string]bool{}}
}

// shape is how a node is drawn: what stands around its label.
type shape struct{ open, close string }

// The shapes: of devices, of directories and mounts, of containers, of marks.
func cylinder() shape { return shape{"[(", ")]"} }
func box() shape      { return shape{"[", "]"} }
func stadium() shape  { return shape{"([", "])"} }
func hexagon() shape  { return shape{"{{", "}}"} }

// node draws a node unless it is drawn already and returns its id. Each line of
// the label is any text.
func (d *diagram) node(known string, s shape, lines ...string) string {
	if id, ok := d.ids[known]; ok {
		return id
	}
	id := fmt.Sprintf("n%d", len(d.ids)+1)
	d.ids[known] = id
	fmt.Fprintf(&d.nodes, "  %s%s%s%s\n", id, s.open, label(lines...), s.close)
	return id
}

// link draws an arrow between two ids, with a label unless it is empty.
func (d *diagram) link(from, to, text string) {
	line := "  " + from + " --> " + to + "\n"
	if text != "" {
		line = "  " + from + " -->|" + label(text) + "| " + to + "\n"
	}
	if !d.drawn[line] {
		d.drawn[line] = true
		d.links.WriteString(line)
	}
}

func (d *diagram) write(w io.Writer) error {
	_, err := io.WriteString(w, "flowchart LR\n"+d.nodes.String()+d.links.String())
	return err
}

// label quotes the lines of a label; empty ones are left out.
func label(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		if line == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("<br/>")
		}
		entities(&b, line)
	}
	return `"` + b.String() + `"`
}

// entities writes text for a label. Mermaid reads Markdown in labels, and
// searches the whole of a diagram for directives, styles and entities before it
// parses it: whatever is not plain is written by its number (#35;).
func entities(b *strings.Builder, line string) {
	begun := false // past where Markdown looks for the mark of a list
	for _, r := range line {
		switch {
		case r >= '0' && r <= '9', r == ' ' && begun:
			b.WriteRune(r)
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || strings.ContainsRune("/,(", r), begun && strings.ContainsRune(".)-", r):
			b.WriteRune(r)
			begun = true
		case r == '"':
			b.WriteString("#quot;")
			begun = true
		default:
			fmt.Fprintf(b, "#%d;", r)
			begun = true
		}
	}
}
