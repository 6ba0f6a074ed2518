package policy

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// The limits keep one match cheap: every combination of the alternatives in
// braces may be tried.
const (
	maxGlob         = 1024
	maxAlternatives = 256
	meta            = `*?[]{}\`
)

// pathGlob is a glob for absolute paths. Its literal part before the first
// component with a meta character is a path of the host, and can be compared
// with others by what it leads to.
type pathGlob struct {
	id     int    // place in a binding
	text   string // as written
	prefix string // literal, cleaned; may hold variables
	rest   string // relative glob below it, "" for the prefix alone; may hold variables
}

func newPathGlob(text string) (*pathGlob, error) {
	switch {
	case text == "":
		return nil, errors.New("an empty glob matches nothing")
	case !path.IsAbs(text) && !strings.HasPrefix(text, "${"):
		return nil, fmt.Errorf("glob %q is relative: it must start with / or a variable", text)
	}
	if err := checkVariables(text); err != nil {
		return nil, err
	}
	if err := checkGlob(text, withoutVariables(text)); err != nil {
		return nil, err
	}
	cleaned := path.Clean(text)
	components := strings.Split(cleaned, "/")
	literal := 0
	for literal < len(components) && !strings.ContainsAny(withoutVariables(components[literal]), meta) {
		literal++
	}
	g := &pathGlob{text: text, prefix: strings.Join(components[:literal], "/"), rest: strings.Join(components[literal:], "/")}
	if g.prefix == "" {
		g.prefix = "/"
	}
	return g, nil
}

// checkGlob returns what is wrong with a glob; plain is the same without
// variables.
func checkGlob(text, plain string) error {
	if len(text) > maxGlob {
		return fmt.Errorf("glob is longer than %d bytes", maxGlob)
	}
	if alternatives(plain) > maxAlternatives {
		return fmt.Errorf("glob %q stands for more than %d alternatives: write several globs", text, maxAlternatives)
	}
	for component := range strings.SplitSeq(plain, "/") {
		switch {
		case component == "..":
			return fmt.Errorf("glob %q has a \"..\": write the path it leads to", text)
		case component != "**" && strings.Contains(component, "**"):
			return fmt.Errorf("glob %q: \"**\" stands for whole components, write it between slashes", text)
		}
	}
	if !doublestar.ValidatePattern(plain) {
		return fmt.Errorf("glob %q: brackets, braces or a backslash without their other half", text)
	}
	return nil
}

// alternatives is at least the number of combinations that the braces of a
// glob stand for, and never far beyond maxAlternatives.
func alternatives(glob string) int {
	product, one := 1, 1
	for i := range len(glob) {
		switch glob[i] {
		case '{':
			product, one = product*one, 1
		case ',':
			one++
		}
		if product*one > maxAlternatives {
			return maxAlternatives + 1
		}
	}
	return product * one
}

// escapeMeta makes a text match only itself.
func escapeMeta(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if strings.IndexByte(meta+",", c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}
