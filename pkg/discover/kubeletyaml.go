package discover

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// maxDropIns bounds the files of a directory that are read.
const maxDropIns = 64

// reader reads what command lines lead to.
type reader struct {
	file func(path string) (string, error)
	dir  func(path string) ([]string, error)
}

// rootOfRancher finds the root of the kubelet in the configuration of k3s or
// rke2: FILE and FILE.d/*.yaml, of which the last counts. Command lines are
// stronger and not always seen: k3s writes a title over its own.
//
// Source: docs.k3s.io/installation/configuration.
func (r reader) rootOfRancher(file string) (root, at string, passed []string) {
	files := []string{file}
	names, err := r.dir(file + ".d")
	if err == nil { // else there is none, or what is in the file alone is told
		slices.Sort(names)
		for _, name := range names[:min(len(names), maxDropIns)] {
			if ext := path.Ext(name); ext == ".yaml" || ext == ".yml" {
				files = append(files, path.Join(file+".d", name))
			}
		}
	}
	for _, f := range files {
		text, err := r.file(f)
		if err != nil {
			continue // mostly there is none
		}
		found := rootInYAML(text)
		if found.replaces {
			root, at = "", ""
		}
		if found.root != "" {
			root, at = found.root, fmt.Sprintf("%s:%d", f, found.line)
		}
		if found.unread != 0 {
			passed = append(passed, fmt.Sprintf("%s:%d names a root-dir in a way that is not understood", f, found.unread))
		}
	}
	return root, at, passed
}

// inYAML is what the arguments for the kubelet in one file say.
type inYAML struct {
	root     string
	line     int
	replaces bool // those of the files before do not count
	unread   int  // a line that names a root-dir and is not understood
}

// rootInYAML looks for the root among the values of the key kubelet-arg, line by
// line. That is no reading of YAML: what is not written in the usual ways, a
// list with an item a line, a list in brackets, or a single value, each plain or
// quoted, is said not to be understood.
func rootInYAML(text string) (found inYAML) {
	within, number := false, 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, " \t\r\n")
		rest := strings.TrimLeft(line, " ")
		switch key, value, ok := strings.Cut(line, ":"); {
		case rest == "" || rest[0] == '#':
			continue
		case ok && rest == line && rest[0] != '-':
			key = strings.Trim(strings.TrimSpace(key), `"'`)
			within = key == "kubelet-arg" || key == "kubelet-arg+"
			found.replaces = found.replaces || key == "kubelet-arg"
			rest = value
		}
		if within {
			found.items(rest, number)
		}
	}
	return found
}

// items reads the items of one line.
func (found *inYAML) items(line string, number int) {
	line, _, _ = strings.Cut(line, " #") // a comment
	line = strings.TrimSpace(line)
	if item, ok := strings.CutPrefix(line, "- "); ok {
		line = strings.TrimSpace(item)
	} else if inner, ok := strings.CutPrefix(line, "["); ok {
		line, _ = strings.CutSuffix(inner, "]")
	}
	for item := range strings.SplitSeq(line, ",") {
		item = unquoted(strings.TrimSpace(item))
		root, ok := rootArgument(item)
		switch {
		case ok && path.IsAbs(root) && len(strings.Fields(item)) == 1 && !strings.ContainsAny(root, "\"'[]{}#&*!|>%@\\` \t"):
			found.root, found.line = root, number
		case ok || strings.Contains(item, "root-dir"):
			found.unread = number
		}
	}
}

// unquoted takes a pair of quotes away.
func unquoted(s string) string {
	for _, quote := range []string{`"`, `'`} {
		if inner, ok := strings.CutPrefix(s, quote); ok {
			if inner, ok = strings.CutSuffix(inner, quote); ok {
				return inner
			}
		}
	}
	return s
}
