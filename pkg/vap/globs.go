package vap

import (
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// pathGlob is a glob of source or destination as policy.Vars.Split gives it.
type pathGlob struct{ prefix, rest string }

// all reports a glob of a directory and everything below it.
func (g pathGlob) all() bool {
	return g.rest != "" && strings.Trim(g.rest, "*/") == "" && !strings.Contains("/"+g.rest+"/", "/*/")
}

// moved is the glob with another directory in the place of one that it starts
// at or below.
func (g pathGlob) moved(from, to string) (pathGlob, bool) {
	rest, ok := facts.Below(g.prefix, from)
	return pathGlob{facts.JoinRoot(to, rest), g.rest}, ok
}

// matches is the expression for a clean path being in the glob, and false where
// there is no exact one.
func (g pathGlob) matches(path string) (expr, bool) {
	below := strings.TrimSuffix(g.prefix, "/") + "/"
	switch {
	case g.rest == "":
		return expr(path + " == " + quote(g.prefix)), true
	case g.all() && g.prefix == "/":
		return expr(path + `.startsWith("/")`), true
	case g.all():
		return expr("(" + path + " == " + quote(g.prefix) + " || " + path + ".startsWith(" + quote(below) + "))"), true
	}
	plain, ok := braces(g.rest)
	if !ok {
		return never, false
	}
	for i, one := range plain {
		if slashInClass(one) {
			return never, false
		}
		plain[i] = pathRegex(one)
	}
	return expr(path + ".matches(" + quote(anchored(below, plain)) + ")"), true
}

// nameGlob is the expression for a name being in the glob, and false where there
// is no exact one.
func nameGlob(name, glob string) (expr, bool) {
	if !strings.ContainsAny(glob, `*?[]{}\`) {
		return expr(name + " == " + quote(glob)), true
	}
	plain, ok := braces(glob)
	if !ok || strings.Contains(glob, "[") && strings.Contains(glob, "/") || strings.Contains(glob, "\x00") {
		return never, false // the matcher does not read a slash in a class like others
	}
	anything := false
	for i, one := range plain {
		anything = anything || strings.Trim(one, "*") == "" && one != ""
		plain[i] = runes(one, ".", true)
	}
	if anything {
		return always, true
	}
	return expr(name + ".matches(" + quote(anchored("", plain)) + ")"), true
}

// source says where a path that a manifest names is in the glob on the node:
// surely, and maybe. The runtime resolves symbolic links before the node
// decides, and the node resolves where a glob starts.
func (g pathGlob) source(path string) (surely, maybe expr, ok bool) {
	written, ok := g.matches(path)
	if !ok {
		return never, always, false
	}
	surely, maybe = written, written
	for _, link := range links() {
		from, to := link[0], link[1]
		through, _ := pathGlob{from, "**"}.matches(path)
		if other, ok := g.moved(to, from); ok {
			e, _ := other.matches(path)
			maybe = or(maybe, e)
		}
		if other, ok := g.moved(from, to); ok {
			e, _ := other.matches(path)
			maybe = or(maybe, e)
			continue
		}
		if g.rest == "" {
			continue
		}
		overFrom, overTo := facts.Within(from, g.prefix), facts.Within(to, g.prefix)
		if overTo && g.prefix != to {
			maybe = or(maybe, through)
		}
		if overFrom && (!g.all() || !overTo) {
			surely = and(surely, not(through))
		}
	}
	return surely, maybe, true
}

// links are the symbolic links that distributions have, and a hostPath may be
// written with. Source: FHS 3.0, file-hierarchy(7), the merged /usr.
func links() [][2]string {
	return [][2]string{
		{"/bin", "/usr/bin"},
		{"/lib", "/usr/lib"},
		{"/lib32", "/usr/lib32"},
		{"/lib64", "/usr/lib64"},
		{"/sbin", "/usr/sbin"},
		{"/var/lock", "/run/lock"},
		{"/var/run", "/run"},
	}
}
