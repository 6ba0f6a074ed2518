package policy

import "strings"

// MatchName reports whether a name is in a glob that a policy may have. The
// whole name is one component: "*" is every name.
func MatchName(glob, name string) bool {
	g, err := newNameGlob(glob)
	return err == nil && g.match(name)
}

// SplitPath returns the literal part of a path glob that a policy may have,
// cleaned, and the relative glob that follows, "" for none. Both may hold
// variables.
func SplitPath(glob string) (prefix, rest string) {
	g, err := newPathGlob(glob)
	if err != nil {
		return glob, ""
	}
	return g.prefix, g.rest
}

// MatchBelow reports whether what follows the literal part of a path ("" for
// that part itself) is in the relative glob that SplitPath returned.
func MatchBelow(rest, below string) bool {
	g := newRestGlob(rest)
	return g.match(below)
}

// Expand replaces the variables of a path, and returns false where one is not
// known.
func (v Vars) Expand(text string) (string, bool) {
	expanded, missing := v.expand(text, false)
	return strings.ReplaceAll(expanded, "//", "/"), missing == ""
}

// Literal returns the glob that stands for a text and nothing else. Variables are
// no part of a text: "${" in it is no variable any more.
func Literal(text string) string { return escapeMeta(text) }

// Split returns the two parts in which a glob of source or destination is
// matched, with the variables replaced: the literal path at which it starts, and
// what follows below it, "" for that path alone. missing is a variable without a
// value; then the glob cannot be matched.
func (v Vars) Split(glob string) (prefix, rest, missing string, err error) {
	g, err := newPathGlob(glob)
	if err != nil {
		return "", "", "", err
	}
	e := g.expand(v)
	return e.prefix, e.rest.text, e.missing, nil
}
