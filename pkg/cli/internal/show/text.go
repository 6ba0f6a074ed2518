package show

import (
	"unicode"
	"unicode/utf8"

	"github.com/mountward/mountward/pkg/internal/mangle"
)

// Word returns text from outside as one word of one line. Spaces, backslashes,
// control characters, what does not print and what is not UTF-8 are written
// byte by byte as mountinfo does: "\040". Nothing is "-".
func Word(s string) string {
	if s == "" {
		return "-"
	}
	return mangle.Only(s, func(r rune) bool { return r != ' ' && r != '\\' && unicode.IsPrint(r) })
}

// Line returns a sentence as one line, escaped like Word but for its spaces
// and backslashes.
func Line(s string) string { return mangle.Line(s) }

// short cuts text that was made fit for a line to so many characters.
func short(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
