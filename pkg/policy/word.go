package policy

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
)

// wordSelector holds where a word that may not be known is in one of the globs.
// One that is known to be none is in no glob, also not in "*".
type wordSelector struct {
	name  string
	globs []nameGlob
	value func(q *query) facts.Word
}

func (s wordSelector) key() string { return s.name }

func (s wordSelector) match(q *query, _ bool) facts.Truth {
	word := s.value(q)
	if !word.Known {
		return facts.Unknown
	}
	return truth(word.Text != "" && anyName(s.globs, word.Text))
}

func (s wordSelector) why(q *query, _ bool) string {
	switch word := s.value(q); {
	case !word.Known && word.Why == "":
		return "it is not known, wants " + orNames(s.globs)
	case !word.Known:
		return fmt.Sprintf("it is not known (%s), wants %s", word.Why, orNames(s.globs))
	case word.Text == "":
		return "it has none, wants " + orNames(s.globs)
	default:
		return fmt.Sprintf("it is %q, wants %s", word.Text, orNames(s.globs))
	}
}

func image(q *query) facts.Word {
	if q.container.Image == "" {
		return facts.Untold("this runtime does not tell the image; containerd does from 2.4 on")
	}
	return facts.Says(q.container.Image)
}
