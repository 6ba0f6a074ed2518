package policy

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// restGlob is the part of a path glob below its prefix, "" for the prefix alone.
type restGlob struct {
	text string
	// parts are its components, where each has a shape; else doublestar is asked,
	// which takes many times as long. deep says that "**" follows them.
	parts []nameGlob
	deep  bool
	plain bool
}

func newRestGlob(text string) restGlob {
	g := restGlob{text: text}
	head, deep := text, text == "**"
	if deep {
		head = ""
	} else if cut, ok := strings.CutSuffix(text, "/**"); ok {
		head, deep = cut, true
	}
	var parts []nameGlob
	for part := range strings.SplitSeq(head, "/") {
		if head == "" {
			break
		}
		n := nameGlob{text: part}
		if n.shape, n.fixed = shapeOf(part); n.shape == shaped || part == "" {
			return g
		}
		parts = append(parts, n)
	}
	g.parts, g.deep, g.plain = parts, deep, true
	return g
}

// match matches a path below a prefix, "" for the prefix itself: "/data/**"
// covers /data, "/data/*" does not.
func (g *restGlob) match(below string) bool {
	switch {
	case below == "":
		return g.text == "" || g.text == "**" || strings.Trim(g.text, "*/") == "" && !strings.Contains("/"+g.text+"/", "/*/")
	case g.text == "":
		return false
	case !g.plain:
		return doublestar.MatchUnvalidated(g.text, below)
	}
	for i := range g.parts {
		if below == "" {
			return false
		}
		part, rest, _ := strings.Cut(below, "/")
		if !g.parts[i].match(part) {
			return false
		}
		below = rest
	}
	return g.deep || below == ""
}
