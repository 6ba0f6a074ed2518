// Package shell writes names for the command lines that are shown to people.
package shell

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote returns text as one word of a shell's command line that is one line and
// prints: as it is where that is safe, in single quotes, or with the bytes that
// do not print in $'...' (POSIX.1-2024; bash and busybox have it for long).
func Quote(s string) string {
	plain := func(r rune) bool {
		return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+:@%=,~", r))
	}
	switch {
	case s != "" && s[0] != '~' && s[0] != '-' && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0:
		return s
	case printable(s):
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		switch {
		case c == '\'' || c == '\\' || c < ' ' || c > '~':
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return "$'" + b.String() + "'"
}

func printable(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
