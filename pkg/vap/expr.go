package vap

import (
	"fmt"
	"strings"
)

// expr is an expression of CEL that is a bool, written so that it can stand
// beside && and ||.
type expr string

const (
	always expr = "true"
	never  expr = "false"
)

// and holds where all do.
func and(all ...expr) expr {
	var parts []string
	for _, e := range all {
		switch e {
		case never:
			return never
		case always:
		default:
			parts = append(parts, string(e))
		}
	}
	if len(parts) == 0 {
		return always
	}
	return expr(strings.Join(parts, " && "))
}

// or holds where any does.
func or(all ...expr) expr {
	var parts []string
	for _, e := range all {
		switch e {
		case always:
			return always
		case never:
		default:
			parts = append(parts, string(e))
		}
	}
	switch len(parts) {
	case 0:
		return never
	case 1:
		return expr(parts[0])
	default:
		return expr("(" + strings.Join(parts, " || ") + ")")
	}
}

// not holds where e does not.
func not(e expr) expr {
	switch e {
	case always:
		return never
	case never:
		return always
	default:
		return "!(" + e + ")"
	}
}

// quote writes a text as a string literal of CEL in printable ASCII, whatever
// is in it.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r >= ' ' && r < 0x7f:
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// quotes writes a list of string literals.
func quotes(texts []string) string {
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = quote(text)
	}
	return "[" + strings.Join(all, ", ") + "]"
}
