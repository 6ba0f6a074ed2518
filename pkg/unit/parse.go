package unit

import (
	"strings"
)

// Setting is one assignment, and where it stands.
type Setting struct {
	Section string `json:"section"` // "Service"
	Key     string `json:"key"`
	Value   string `json:"value"` // continued lines joined by a space
	File    string `json:"file"`
	Line    int    `json:"line"` // of the key, from 1
}

// Parse reads one unit file as systemd does, see systemd.syntax(7): a line that
// ends with a backslash goes on in the next, comments between them are passed
// over, space around key and value does not count. Lines that are no assignment
// are passed over, as systemd does after a warning.
func Parse(file string, text []byte) []Setting {
	var all []Setting
	section, begun, line := "", 0, ""
	number := 0
	for raw := range strings.Lines(string(text)) {
		number++
		raw = strings.TrimRight(raw, "\r\n")
		trimmed := strings.TrimLeft(raw, whitespace)
		if trimmed != "" && strings.ContainsRune("#;", rune(trimmed[0])) {
			continue
		}
		if begun == 0 {
			begun, line = number, trimmed
		} else {
			line += " " + trimmed
		}
		if before, more := continued(line); more {
			line = before
			continue
		}
		all, section = assign(all, section, Setting{File: file, Line: begun}, line)
		begun = 0
	}
	if begun != 0 { // the last line of the file is continued
		all, _ = assign(all, section, Setting{File: file, Line: begun}, line)
	}
	return all
}

const whitespace = " \t"

// continued reports whether a line ends with a backslash that is none of a
// pair, and returns it without.
func continued(line string) (string, bool) {
	rest := strings.TrimRight(line, `\`)
	if (len(line)-len(rest))%2 == 0 {
		return line, false
	}
	return line[:len(line)-1], true
}

func assign(all []Setting, section string, s Setting, line string) ([]Setting, string) {
	line = strings.Trim(line, whitespace)
	if inner, ok := strings.CutPrefix(line, "["); ok {
		if name, ok := strings.CutSuffix(inner, "]"); ok {
			return all, name
		}
		return all, section
	}
	key, value, ok := strings.Cut(line, "=")
	if key = strings.TrimRight(key, whitespace); !ok || key == "" || section == "" {
		return all, section
	}
	s.Section, s.Key, s.Value = section, key, strings.TrimLeft(value, whitespace)
	return append(all, s), section
}
