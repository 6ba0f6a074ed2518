package strict

import "github.com/pelletier/go-toml/v2/unstable"

// origin is how a table or an array came to be. TOML says by it who may add
// to it later.
type origin uint8

const (
	value    origin = iota // a scalar
	inline                 // { ... } or [ ... ]: complete
	dotted                 // by a.b = ...: only more dotted keys in the same table
	implied                // by [a.b]: a may still get a header of its own
	explicit               // by [a]
	headers                // by [[a]]: the array, each header adds an item
)

// node is one value of the file.
type node struct {
	kind    unstable.Kind // InlineTable for every table, Array for every array
	origin  origin
	at      int // offset of the key, or of the element of an array
	value   int // offset of the value itself; that of the key where there is none
	text    string
	keys    map[string]*node
	items   []*node
	repeats []*node // forbidden repetitions of this table, kept to find errors in them
}

func newTable(o origin, at int) *node {
	return &node{kind: unstable.InlineTable, origin: o, at: at, value: at, keys: map[string]*node{}}
}

func (n *node) table() bool { return n.kind == unstable.InlineTable }
func (n *node) array() bool { return n.kind == unstable.Array }

// found names what stands in the file, for messages.
func (n *node) found() string {
	switch n.kind {
	case unstable.InlineTable:
		return "a table"
	case unstable.Array:
		if n.origin == headers {
			return "a list of tables"
		}
		return "a list"
	case unstable.String:
		return "a string"
	case unstable.Bool:
		return "a boolean"
	case unstable.Integer:
		return "an integer"
	case unstable.Float:
		return "a float"
	default:
		return "a date or time"
	}
}
