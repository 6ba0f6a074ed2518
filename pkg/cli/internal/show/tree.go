package show

import "io"

// branch is one line of a tree, fit for a line, with what hangs on it.
type branch struct {
	text string
	sub  []*branch
}

// add hangs a line on the branch and returns it.
func (b *branch) add(text string) *branch {
	s := &branch{text: text}
	b.sub = append(b.sub, s)
	return s
}

// write draws the branch as lsblk and findmnt do.
func (b *branch) write(w io.Writer) error {
	if _, err := io.WriteString(w, b.text+"\n"); err != nil {
		return err
	}
	return b.below(w, "")
}

func (b *branch) below(w io.Writer, indent string) error {
	for i, s := range b.sub {
		line, next := "├─", "│ "
		if i == len(b.sub)-1 {
			line, next = "└─", "  "
		}
		if _, err := io.WriteString(w, indent+line+s.text+"\n"); err != nil {
			return err
		}
		if err := s.below(w, indent+next); err != nil {
			return err
		}
	}
	return nil
}
