package discover

import "strings"

// flag returns the last accepted value of --name VALUE or --name=VALUE, with
// one dash or two.
func flag(args []string, name string, accept func(string) (string, bool)) (value string, ok bool) {
	for i, arg := range args {
		dashed, is := strings.CutPrefix(arg, "-")
		if !is {
			continue
		}
		key, v, joined := strings.Cut(strings.TrimPrefix(dashed, "-"), "=")
		if key != name {
			continue
		}
		if !joined && i+1 < len(args) {
			v = args[i+1]
		}
		if accepted, good := accept(v); good {
			value, ok = accepted, true
		}
	}
	return value, ok
}

func anyValue(v string) (string, bool) { return v, true }

// first returns the value of the first of the names that is given.
func first(args []string, names ...string) string {
	for _, name := range names {
		if v, ok := flag(args, name, anyValue); ok && v != "" {
			return v
		}
	}
	return ""
}
