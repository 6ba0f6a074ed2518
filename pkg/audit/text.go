package audit

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mountward/mountward/pkg/facts"
)

// maxMessage bounds MESSAGE, in bytes. journalctl -o json leaves out values
// from 4096 bytes on unless it is asked for them with --all.
const maxMessage = 2000

// word returns a name from outside as one word of a message: as it is where it
// is plain, else quoted, so that neither a space nor a newline in the name of a
// file or a pod can pass for words of ours.
func word(s string) string {
	plain := s != "" && utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsPrint(r) || r == ' ' || r == '"' || r == '\\'
	}) < 0
	if plain {
		return s
	}
	return strconv.Quote(s)
}

// oneLine returns text without control characters, newlines, and bytes that
// are not UTF-8: each is written as an escape of Go. It cuts the text to
// maxMessage bytes.
func oneLine(text string) string {
	var line strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		piece := text[:size]
		text = text[size:]
		if !unicode.IsPrint(r) || r == utf8.RuneError && size == 1 {
			quoted := strconv.Quote(piece)
			piece = quoted[1 : len(quoted)-1]
		}
		if line.Len()+len(piece) > maxMessage-len(" ...") {
			line.WriteString(" ...")
			break
		}
		line.WriteString(piece)
	}
	return line.String()
}

// option is the OCI word of a propagation, "unset" where there is none.
func option(p facts.Propagation) string {
	if o := p.Option(); o != "" {
		return o
	}
	return p.String()
}

// request is a propagation in the words of both worlds: "rshared
// (Bidirectional)".
func request(p facts.Propagation) string {
	if k := p.Kubernetes(); k != "" {
		return fmt.Sprintf("%s (%s)", option(p), k)
	}
	return option(p)
}
