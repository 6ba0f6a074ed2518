package vap

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// pathRegex translates a glob without braces, which stands below a directory of
// which a clean path was cut off: "/" separates components.
func pathRegex(glob string) string {
	components := splitOutside(glob)
	var b strings.Builder
	for i := 0; i < len(components); i++ {
		if components[i] != "**" {
			b.WriteString(runes(components[i], "[^/]", false))
			if i+1 < len(components) && components[i+1] != "**" {
				b.WriteByte('/')
			}
			continue
		}
		last := i
		for last+1 < len(components) && components[last+1] == "**" {
			last++
		}
		switch {
		case last+1 < len(components): // **/b
			if i > 0 {
				b.WriteByte('/')
			}
			b.WriteString("(?:[^/]+/)*")
		case i == 0: // ** alone: the caller knows that something is there
			b.WriteString(".*")
		default: // a/** is a as well
			b.WriteString("(?:/.*)?")
		}
		i = last
	}
	return b.String()
}

// splitOutside cuts a glob into components; a slash in a class does not cut.
func splitOutside(glob string) []string {
	var all []string
	for {
		i := indexOutside(glob, '/')
		if i < 0 {
			return append(all, glob)
		}
		all, glob = append(all, glob[:i]), glob[i+1:]
	}
}

// slashInClass reports a class that a slash may be in and may come to: not at
// the start of a component. The matcher does not try all that it might then.
func slashInClass(glob string) bool {
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case '[':
			end := i + classEnd(glob[i:])
			slash := regexp.MustCompile(class(glob[i+1:end], false)).MatchString("/")
			if slash && i > 0 && glob[i-1] != '/' {
				return true
			}
			i = end
		}
	}
	return false
}

// runes translates stars, question marks, classes and literals; anyRune is what
// the first two stand for. In a class, between says that a slash is in no range.
func runes(glob, anyRune string, between bool) string {
	var b strings.Builder
	for glob != "" {
		r, size := utf8.DecodeRuneInString(glob)
		switch r {
		case '*':
			for size < len(glob) && glob[size] == '*' {
				size++
			}
			b.WriteString(anyRune + "*")
		case '?':
			b.WriteString(anyRune)
		case '[':
			size = classEnd(glob) + 1
			b.WriteString(class(glob[1:size-1], between))
		case '\\':
			r, more := utf8.DecodeRuneInString(glob[size:])
			size += more
			b.WriteString(regexp.QuoteMeta(string(r)))
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
		glob = glob[size:]
	}
	return b.String()
}

// class translates what stands between brackets.
func class(inside string, between bool) string {
	var b strings.Builder
	negated := strings.HasPrefix(inside, "!") || strings.HasPrefix(inside, "^")
	if negated {
		inside = inside[1:]
	}
	add := func(lo, hi rune) {
		if lo <= hi {
			fmt.Fprintf(&b, `\x{%x}-\x{%x}`, lo, hi)
		}
	}
	next := func() rune {
		if strings.HasPrefix(inside, `\`) && len(inside) > 1 {
			inside = inside[1:]
		}
		r, size := utf8.DecodeRuneInString(inside)
		inside = inside[size:]
		return r
	}
	for last := rune(-1); inside != ""; {
		if last >= 0 && len(inside) > 1 && inside[0] == '-' {
			inside = inside[1:]
			hi := next()
			if between && last < '/' && '/' < hi {
				add(last, '/'-1)
				last = '/' + 1
			}
			add(last, hi)
			last = -1
			continue
		}
		last = next()
		add(last, last)
	}
	if negated {
		return "[^" + b.String() + "]"
	}
	return "[" + b.String() + "]"
}

// anchored is a regular expression for a literal and then one of several.
func anchored(literal string, all []string) string {
	one := strings.Join(all, "|")
	switch {
	case strings.Contains(one, "."): // which is a newline too
		one = "(?s:" + one + ")"
	case len(all) > 1:
		one = "(?:" + one + ")"
	}
	return "^" + regexp.QuoteMeta(literal) + one + "$"
}
