package lint

import "strings"

// alternatives returns the globs without braces that a glob stands for. The
// policy bounds their number. A glob with a backslash is returned as it is.
func alternatives(glob string) []string {
	open := strings.IndexByte(glob, '{')
	if open > 0 && glob[open-1] == '$' { // a variable
		end := open + strings.IndexByte(glob[open:], '}') + 1
		var all []string
		for _, rest := range alternatives(glob[end:]) {
			all = append(all, glob[:end]+rest)
		}
		return all
	}
	if open < 0 || strings.ContainsAny(glob, `\[`) {
		return []string{glob}
	}
	depth, start := 0, open+1
	var parts []string
	for i := open; i < len(glob); i++ {
		switch c := glob[i]; {
		case c == '{':
			depth++
		case c == ',' && depth == 1:
			parts, start = append(parts, glob[start:i]), i+1
		case c == '}':
			if depth--; depth > 0 {
				continue
			}
			var all []string
			for _, part := range append(parts, glob[start:i]) {
				all = append(all, alternatives(glob[:open]+part+glob[i+1:])...)
			}
			return all
		}
	}
	return []string{glob}
}
