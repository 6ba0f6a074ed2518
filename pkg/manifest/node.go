package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// MaxSize is the largest file, in bytes.
const MaxSize = 16 << 20

// What is made of a file is bounded before it is made: a byte or two of YAML can
// be an item of some hundred bytes, and an alias a copy of anything.
const (
	maxYAML  = 4 << 20  // bytes of one document
	maxItems = 500_000  // of one document, as its punctuation has them at most
	maxNodes = 1000_000 // of the whole file, each alias counted as what it stands for
	maxDepth = 200
)

var errTooMuch = fmt.Errorf("more than %d values, or deeper than %d: no manifest is like that", maxNodes, maxDepth)

// parse reads one YAML document, or JSON; nil where there is nothing in it.
func parse(text []byte) (*yaml.Node, error) {
	trimmed := bytes.TrimLeft(text, " \t\r\n")
	if bytes.HasPrefix(trimmed, []byte("{")) && json.Valid(trimmed) {
		return fromJSON(text)
	}
	if len(text) > maxYAML {
		return nil, fmt.Errorf("a YAML document of more than %d MiB", maxYAML>>20)
	}
	if items(text) > maxItems {
		return nil, errTooMuch
	}
	var node, next yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	err := d.Decode(&node)
	if errors.Is(err, io.EOF) {
		return nil, nil // nothing but comments
	}
	if err != nil {
		return nil, parsed(err)
	}
	if err := d.Decode(&next); err != nil && !errors.Is(err, io.EOF) {
		return nil, parsed(err)
	} else if err == nil {
		return nil, locate(next.Line, errors.New("a document begins without ---, which Kubernetes leaves out"))
	}
	if node.Kind == yaml.DocumentNode && len(node.Content) == 1 && node.Content[0].Kind == yaml.ScalarNode && node.Content[0].Tag == "!!null" {
		return nil, nil
	}
	return &node, nil
}

// items is at least the number of values of a YAML text, as a parser makes them.
func items(text []byte) int {
	n, last := 0, byte('\n')
	for _, c := range text {
		switch {
		case c == ',', c == '[', c == '{', c == '\n', c == ' ' && (last == '-' || last == ':' || last == '?'):
			n++
		}
		last = c
	}
	return n
}

// spend takes the values of a node from what is left for the file, with those
// that its aliases stand for. It refuses a key that is there twice.
func spend(n *yaml.Node, depth int, left *int) error {
	if *left--; *left < 0 || depth > maxDepth {
		return errTooMuch
	}
	if n.Kind == yaml.AliasNode {
		return spend(n.Alias, depth+1, left)
	}
	seen := map[string]bool{}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if child.Kind == yaml.ScalarNode && child.Value != "<<" && seen[child.Value] {
				return locate(child.Line, fmt.Errorf("the key %q is there twice", child.Value))
			}
			seen[child.Value] = true
		}
		if err := spend(child, depth+1, left); err != nil {
			return err
		}
	}
	return nil
}
