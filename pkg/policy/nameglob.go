package policy

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// nameGlob is a glob for a name. A name is one component: a slash that a
// tenant puts into it must not take it out of the reach of "*".
type nameGlob struct {
	text, pattern string
	shape         shape
	fixed         string // the text without its star, of a shape that is not shaped
}

// shape is what a glob comes to where it needs no matcher. Nearly all do not.
type shape uint8

const (
	shaped    shape = iota // by doublestar
	exact                  // fixed
	anything               // "*"
	beginning              // fixed*
	ending                 // *fixed
)

func newNameGlob(text string) (nameGlob, error) {
	if strings.Contains(text, "${") {
		return nameGlob{}, fmt.Errorf("glob %q: variables stand only in source and destination", text)
	}
	if err := checkGlob(text, text); err != nil {
		return nameGlob{}, err
	}
	g := nameGlob{text: text, pattern: strings.ReplaceAll(text, "/", slash)}
	g.shape, g.fixed = shapeOf(text)
	return g, nil
}

// literal is the glob of a word without meta characters.
func literal(word string) nameGlob {
	return nameGlob{text: word, pattern: word, shape: exact, fixed: word}
}

// shapeOf tells the shape of a glob. Only text in ASCII is compared by bytes:
// doublestar compares characters, and a name need not be UTF-8.
func shapeOf(text string) (shape, string) {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return shaped, ""
		}
	}
	start, end := strings.TrimPrefix(text, "*"), strings.TrimSuffix(text, "*")
	switch {
	case !strings.ContainsAny(text, meta):
		return exact, text
	case text == "*":
		return anything, ""
	case !strings.ContainsAny(end, meta):
		return beginning, end
	case !strings.ContainsAny(start, meta):
		return ending, start
	default:
		return shaped, ""
	}
}

// slash stands for "/" in names; no name can hold it.
const slash = "\x00"

func (g *nameGlob) match(name string) bool {
	switch g.shape {
	case exact:
		return name == g.fixed
	case anything:
		return true
	case beginning:
		return strings.HasPrefix(name, g.fixed)
	case ending:
		return strings.HasSuffix(name, g.fixed)
	default:
		return doublestar.MatchUnvalidated(g.pattern, strings.ReplaceAll(name, "/", slash))
	}
}
