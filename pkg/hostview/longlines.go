package hostview

import (
	"bufio"
	"bytes"
	"io"
)

// longLines cuts the lines of a mountinfo table to what the parser accepts
// (less than 64 KiB). Only superblock options, the last field, make a line that
// long: an overlay can name 500 lower directories. One such mount must not make
// the whole table unreadable.
type longLines struct {
	r      *bufio.Reader
	line   int
	column int
	cut    []int // numbers of the lines that were cut
}

const maxLine = 60 << 10

// newLongLines reads in pieces of two pages: the kernel gives a page of lines
// at most for one read, and most tables are a container's few lines.
func newLongLines(r io.Reader) *longLines {
	return &longLines{r: bufio.NewReaderSize(r, 8<<10)}
}

// Read hands on what was read, less the ends of long lines.
func (l *longLines) Read(p []byte) (int, error) {
	for {
		n, err := l.r.Read(p)
		if kept := l.trim(p[:n]); kept > 0 || err != nil || len(p) == 0 {
			return kept, err
		}
	}
}

// trim moves what is kept to the front and returns its length.
func (l *longLines) trim(p []byte) int {
	kept := 0
	for rest := p; len(rest) > 0; {
		text, ends := rest, false
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			text, ends = rest[:i], true
		}
		rest = rest[len(text):]
		room := max(maxLine-l.column, 0)
		if len(text) > room && (len(l.cut) == 0 || l.cut[len(l.cut)-1] != l.line) {
			l.cut = append(l.cut, l.line)
		}
		l.column += len(text)
		kept += copy(p[kept:], text[:min(len(text), room)])
		if ends {
			p[kept] = '\n'
			kept++
			rest = rest[1:]
			l.line, l.column = l.line+1, 0
		}
	}
	return kept
}
