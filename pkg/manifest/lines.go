package manifest

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"strings"
)

// split cuts a file at the lines that begin a YAML document. Nothing within a
// document can look like one: YAML 1.2 section 9.1.2.
func split(data []byte) (texts [][]byte, lines []int) {
	start, first, line := 0, 0, 0
	add := func(end int) {
		texts, lines = append(texts, data[start:end]), append(lines, first)
	}
	for at := 0; at < len(data); line++ {
		end := len(data)
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		if marks(data[at:end]) {
			add(at)
			start, first = at+len("---"), line
		}
		at = end
	}
	add(len(data))
	return texts, lines
}

func marks(line []byte) bool {
	return bytes.HasPrefix(line, []byte("---")) && (len(line) == 3 || strings.IndexByte(" \t\r\n", line[3]) >= 0)
}

var lineNumber = regexp.MustCompile(`\bline (\d+)`)

// at makes the line numbers of an error in a document those of the file, and one
// line of an error that has several.
func at(err error, line int) error {
	text := strings.NewReplacer("yaml: unmarshal errors:\n  ", "", "yaml: ", "", "\n  ", "; ").Replace(err.Error())
	return errors.New(lineNumber.ReplaceAllStringFunc(text, func(s string) string {
		n, _ := strconv.Atoi(strings.TrimPrefix(s, "line ")) // digits
		if n == 0 {
			return s // JSON has no lines
		}
		return "line " + strconv.Itoa(n+line)
	}))
}
