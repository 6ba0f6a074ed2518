package policy

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// restGlob is the part of a path glob below its prefix, "" for the prefix alone.
type restGlob struct {
	text string
	// head is what stands before a "**" at its end; deep says that there is one. To
	// doublestar "a" is not in "a*/**", to us what is in head always is.
	head string
	deep bool
	// parts are the components of head, where each has a shape; else doublestar is
	// asked, which takes many times as long.
	parts []nameGlob
	plain bool
}

func newRestGlob(text string) restGlob {
	g := restGlob{text: text, head: text}
	for deep := true; deep; {
		g.head, deep = strings.CutSuffix(g.head, "/**")
		g.deep = g.deep || deep
	}
	if g.head == "**" {
		g.head, g.deep = "", true
	}
	var parts []nameGlob
	for part := range strings.SplitSeq(g.head, "/") {
		if g.head == "" {
			break
		}
		n := nameGlob{text: part}
		if n.shape, n.fixed = shapeOf(part); n.shape == shaped || part == "" {
			return g
		}
		parts = append(parts, n)
	}
	g.parts, g.plain = parts, true
	return g
}

// match matches a path below a prefix, "" for the prefix itself: "/data/**"
// covers /data, "/data/*" does not.
func (g *restGlob) match(below string) bool {
	switch {
	case below == "":
		return g.head == ""
	case g.text == "":
		return false
	case !g.plain:
		return doublestar.MatchUnvalidated(g.text, below) || g.deep && doublestar.MatchUnvalidated(g.head, below)
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
