package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

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

// document is one document of a file.
type document struct {
	node *yaml.Node
	line int // where it begins in the file, from 0; 0 for JSON, which has no lines here
}

// parse reads one YAML document, or JSON.
func parse(text []byte, line int) (*document, error) {
	trimmed := bytes.TrimLeft(text, " \t\r\n")
	if bytes.HasPrefix(trimmed, []byte("{")) && json.Valid(trimmed) {
		v, err := fromJSON(trimmed)
		if err != nil {
			return nil, err
		}
		return &document{node: v}, nil
	}
	if len(text) > maxYAML {
		return nil, fmt.Errorf("a YAML document of more than %d MiB", maxYAML>>20)
	}
	if items(text) > maxItems {
		return nil, errTooMuch
	}
	var node yaml.Node
	err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&node)
	if errors.Is(err, io.EOF) {
		return nil, nil // nothing but comments
	}
	if err != nil {
		return nil, at(err, line)
	}
	if node.Kind == yaml.DocumentNode && len(node.Content) == 1 && node.Content[0].Kind == yaml.ScalarNode && node.Content[0].Tag == "!!null" {
		return nil, nil
	}
	return &document{&node, line}, nil
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

// fromJSON makes of JSON what a YAML parser would: the names of its members count
// as they are spelled, and the YAML of strings is not JSON's everywhere.
func fromJSON(text []byte) (*yaml.Node, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	left := maxNodes
	return jsonNode(v, 0, &left)
}

func jsonNode(v any, depth int, left *int) (*yaml.Node, error) {
	if *left--; *left < 0 || depth > maxDepth {
		return nil, errTooMuch
	}
	switch v := v.(type) {
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, key := range keys(v) {
			child, err := jsonNode(v[key], depth+1, left)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, child)
		}
		return n, nil
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range v {
			child, err := jsonNode(item, depth+1, left)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		return n, nil
	case string:
		return scalar("!!str", v), nil
	case bool:
		return scalar("!!bool", fmt.Sprint(v)), nil
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return scalar("!!float", v.String()), nil
		}
		return scalar("!!int", v.String()), nil
	default:
		return scalar("!!null", "null"), nil
	}
}

func scalar(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

func keys(m map[string]any) []string {
	all := make([]string, 0, len(m))
	for key := range m {
		all = append(all, key)
	}
	slices.Sort(all)
	return all
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
				return fmt.Errorf("line %d: the key %q is there twice", child.Line, child.Value)
			}
			seen[child.Value] = true
		}
		if err := spend(child, depth+1, left); err != nil {
			return err
		}
	}
	return nil
}
