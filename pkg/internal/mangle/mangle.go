// Package mangle writes and reads text as procfs escapes it: a byte that would
// end a field is a backslash and three octal digits (mangle_path and
// seq_escape in Linux fs/seq_file.c).
package mangle

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns text from outside as one line that prints: control characters, what
// does not print and what is not UTF-8 are written byte by byte as "\012".
func Line(s string) string { return Only(s, unicode.IsPrint) }

// Only writes what is not kept as octal bytes.
func Only(s string, keep func(rune) bool) string {
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

// Escape escapes the bytes that end a field or a line of mountinfo, and the
// backslash.
func Escape(s string) string {
	if !strings.ContainsAny(s, " \t\n\\") {
		return s // nearly all, and a table has 50,000
	}
	return strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`).Replace(s)
}

// Unescape undoes every escape of three octal digits: which bytes the kernel
// escapes depends on the file and the field. A backslash before anything else
// stays as it is.
func Unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
