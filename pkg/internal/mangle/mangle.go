// Package mangle writes and reads text as procfs escapes it: a byte that would
// end a field is a backslash and three octal digits (mangle_path and
// seq_escape in Linux fs/seq_file.c).
package mangle

import (
	"strconv"
	"strings"
)

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
