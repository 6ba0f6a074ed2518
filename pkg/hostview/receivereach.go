package hostview

import (
	"fmt"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/words"
)

// Location is a canonical path in a mount namespace.
type Location struct {
	Namespace uint64
	Path      string
}

// Reaches answers whether a mount that is made now at one location is found by
// its path at another.
func (g *PeerGroups) Reaches(from, to Location) facts.Answer {
	if _, _, err := g.covering(to.Namespace, to.Path); err != nil {
		return facts.CannotTell(err.Error())
	}
	made, err := g.Receivers(from.Namespace, from.Path)
	if err != nil {
		return facts.CannotTell(err.Error())
	}
	path, _ := facts.CleanAbs(to.Path)
	hidden := facts.Answer{}
	for _, r := range made.Receivers {
		switch {
		case r.Namespace != to.Namespace || r.MountPoint != path:
		case r.Visible:
			return facts.Is(true, r.Parent.Line())
		default:
			hidden = facts.Is(false, fmt.Sprintf("it arrives on mount %d, where another covers it", r.Parent.ID))
		}
	}
	perhaps := func(r Receiver) bool { return r.Namespace == to.Namespace && r.MountPoint == path && r.Visible }
	switch {
	case slices.ContainsFunc(made.Perhaps, perhaps), made.Why != "" && len(made.Perhaps) == 0:
		return facts.CannotTell(made.Why)
	case hidden.Why != "":
		return hidden
	}
	return facts.Is(false, fmt.Sprintf("not among what receives it: %s", words.Count(len(made.Receivers), "place")))
}
