package rollout

import (
	"fmt"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/words"
)

// Enough is how much must have been seen before silence means anything.
type Enough struct {
	Time       time.Duration
	Containers uint64
}

// DefaultEnough is a day, in which most nodes roll something out and every
// nightly job has run once, and more containers than a node has when it is idle.
func DefaultEnough() Enough { return Enough{24 * time.Hour, 20} }

// Ready says whether the policy could be enforced without refusing what it has
// seen: yes, no, or that too little was seen. It decides nothing.
func (t Tally) Ready(e Enough) facts.Answer {
	seen := fmt.Sprintf("%s in audit, %s", t.Time(), words.Count(t.Containers, "container"))
	switch n := t.Total(); {
	case t.Mode == "enforce":
		return facts.Is(true, "the policy is enforced already")
	case n > 0:
		return facts.Is(false, fmt.Sprintf("%d refusals there would have been: %s", n, seen))
	case t.Time() < e.Time:
		return facts.CannotTell(fmt.Sprintf("too little seen: %s; want at least %s", seen, e.Time))
	case t.Containers < e.Containers:
		return facts.CannotTell(fmt.Sprintf("too little seen: %s; want at least %s", seen, words.Count(e.Containers, "container")))
	default:
		return facts.Is(true, "nothing would have been refused: "+seen)
	}
}
