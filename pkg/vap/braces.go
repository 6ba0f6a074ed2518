package vap

import "strings"

// braces returns the globs without braces that a glob stands for, and false for
// one whose alternatives have no exact translation: an alternative that can be
// nothing is read by the daemon's matcher according to what stands before it.
func braces(glob string) ([]string, bool) {
	open := indexOutside(glob, '{')
	if open < 0 {
		return []string{glob}, true
	}
	inside, after, ok := closing(glob[open+1:])
	if !ok {
		return nil, false
	}
	var all []string
	for _, alternative := range alternatives(inside) {
		one, ok := braces(glob[:open] + alternative + after)
		if !ok || strings.Trim(alternative, "*{},") == "" {
			return nil, false
		}
		all = append(all, one...)
	}
	return all, true
}

// indexOutside returns the first of a byte that is neither escaped nor in a
// class, or -1.
func indexOutside(glob string, wanted byte) int {
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case wanted:
			return i
		case '\\':
			i++
		case '[':
			i += classEnd(glob[i:])
		}
	}
	return -1
}

// classEnd returns the place of the bracket that ends the class at the start of
// a glob.
func classEnd(glob string) int {
	for i := 1; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case ']':
			return i
		}
	}
	return len(glob) - 1
}

// closing cuts a glob at the brace that closes the one before it.
func closing(glob string) (inside, after string, ok bool) {
	depth := 1
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case '[':
			i += classEnd(glob[i:])
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return glob[:i], glob[i+1:], true
			}
		}
	}
	return "", "", false
}

// alternatives cuts what stands between two braces at its own commas.
func alternatives(inside string) []string {
	var all []string
	depth, start := 0, 0
	for i := 0; i < len(inside); i++ {
		switch inside[i] {
		case '\\':
			i++
		case '[':
			i += classEnd(inside[i:])
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 0 {
				all = append(all, inside[start:i])
				start = i + 1
			}
		}
	}
	return append(all, inside[start:])
}
