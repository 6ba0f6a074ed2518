// Package pages reads the pages of codes such as MW101: plain text, one file a
// code, whose first line is the code and what it stands for.
package pages

import (
	"io/fs"
	"strings"
)

// Page returns the page of a code from the directory "pages", and false for a
// code that there is not.
func Page(files fs.FS, code string) (string, bool) {
	text, err := fs.ReadFile(files, "pages/"+code+".txt")
	return string(text), err == nil
}

// Title returns what a code stands for, in some words; "" for one that there is
// not.
func Title(files fs.FS, code string) string {
	text, _ := Page(files, code)
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimPrefix(line, code+" ")
}
