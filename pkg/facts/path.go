package facts

import (
	"path"
	"strings"
)

// Below returns what follows parent in p ("" when they are the same), and
// false where p is neither parent nor below it. It compares whole components:
// /database is not below /data. Both must be clean and absolute.
func Below(p, parent string) (string, bool) {
	if p == parent {
		return "", true
	}
	if parent == "/" && strings.HasPrefix(p, "/") {
		return p[1:], true
	}
	if n := len(parent); n > 0 && len(p) > n && p[n] == '/' && p[:n] == parent {
		return p[n+1:], true
	}
	return "", false
}

// Within reports whether p is parent or below it, by component.
func Within(p, parent string) bool {
	_, ok := Below(p, parent)
	return ok
}

// JoinRoot appends a relative path to a mount's root without cleaning either:
// the kernel's own text (such as a trailing "//deleted") must stay as it is.
func JoinRoot(root, rest string) string {
	switch {
	case rest == "":
		return root
	case root == "/":
		return "/" + rest
	default:
		return root + "/" + rest
	}
}

// CleanAbs returns p cleaned, and false when it is not absolute.
func CleanAbs(p string) (string, bool) {
	if !path.IsAbs(p) {
		return "", false
	}
	return path.Clean(p), true
}
