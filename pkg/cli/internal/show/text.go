package show

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Word returns text from outside as one word of one line. Spaces, backslashes,
// control characters, what does not print and what is not UTF-8 are written
// byte by byte as mountinfo does: "\040". Nothing is "-".
func Word(s string) string {
	if s == "" {
		return "-"
	}
	return escape(s, func(r rune) bool { return r != ' ' && r != '\\' && unicode.IsPrint(r) })
}

// Line returns a sentence as one line, escaped like Word but for its spaces
// and backslashes.
func Line(s string) string { return escape(s, unicode.IsPrint) }

// escape writes what is not kept as octal bytes.
func escape(s string, keep func(rune) bool) string {
	var b strings.Builder
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		piece := s[:size]
		s = s[size:]
		if keep(r) && (r != utf8.RuneError || size > 1) {
			b.WriteString(piece)
			continue
		}
		for i := range len(piece) {
			fmt.Fprintf(&b, `\%03o`, piece[i])
		}
	}
	return b.String()
}

// short cuts text that was made fit for a line to so many characters.
func short(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}
