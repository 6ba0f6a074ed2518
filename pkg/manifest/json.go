package manifest

import (
	"bytes"
	"encoding/json"
	"strings"

	"go.yaml.in/yaml/v3"
)

// fromJSON makes of JSON what a YAML parser would: the names of its members count
// as they are spelled, and the YAML of strings is not JSON's everywhere.
func fromJSON(text []byte) (*yaml.Node, error) {
	r := jsonReader{Decoder: json.NewDecoder(bytes.NewReader(text)), text: text, line: 1, left: maxNodes}
	r.UseNumber()
	return r.node(0)
}

// jsonReader reads a text that is valid.
type jsonReader struct {
	*json.Decoder
	text []byte
	at   int // where line is that of text
	line int
	left int // of maxNodes
}

// node reads the next value. The members of an object are its name and its value in
// turn, as in YAML's nodes.
func (r *jsonReader) node(depth int) (*yaml.Node, error) {
	if r.left--; r.left < 0 || depth > maxDepth {
		return nil, errTooMuch
	}
	token, err := r.Token()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: r.here()}
	switch v := token.(type) {
	case json.Delim:
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		if v == '{' {
			n.Kind, n.Tag = yaml.MappingNode, "!!map"
		}
		for r.More() {
			child, err := r.node(depth + 1)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		_, err = r.Token() // what ends it
		return n, err
	case string:
		n.Tag, n.Value = "!!str", v
	case bool:
		n.Tag, n.Value = "!!bool", "false"
		if v {
			n.Value = "true"
		}
	case json.Number:
		n.Tag, n.Value = "!!int", v.String()
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	default:
		n.Tag, n.Value = "!!null", "null"
	}
	return n, nil
}

// here is the line of what was read last.
func (r *jsonReader) here() int {
	end := int(r.InputOffset())
	r.line += bytes.Count(r.text[r.at:end], []byte("\n"))
	r.at = end
	return r.line
}
