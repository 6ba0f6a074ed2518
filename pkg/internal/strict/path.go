package strict

import (
	"strconv"
	"strings"
)

// with returns a path with one more key, never in the memory of the first.
func with(path []string, name string) []string {
	return append(path[:len(path):len(path)], name)
}

// element returns the path of one element of a list.
func element(path []string, index int) []string {
	if len(path) == 0 {
		return path
	}
	return with(path[:len(path)-1], path[len(path)-1]+"["+strconv.Itoa(index)+"]")
}

// join writes a path as a header would hold it.
func join(path []string) string {
	steps := make([]string, len(path))
	for i, step := range path {
		steps[i] = bare(step)
	}
	return strings.Join(steps, ".")
}

// bare writes one key as TOML needs it, in quotes where it has odd characters.
func bare(step string) string {
	for _, r := range step {
		letter := r|0x20 >= 'a' && r|0x20 <= 'z'
		if !letter && (r < '0' || r > '9') && r != '_' && r != '-' {
			return strconv.Quote(step)
		}
	}
	if step == "" {
		return `""`
	}
	return step
}

// quote writes a path for a message; a key can hold anything, also newlines.
func quote(path []string) string { return strconv.Quote(strings.Join(path, ".")) }
