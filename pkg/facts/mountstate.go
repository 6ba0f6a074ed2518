package facts

import (
	"fmt"
	"strconv"
	"strings"
)

// MountState is the propagation of one mount as the kernel holds it. Peer is
// the number of its peer group (shared:N), Master that of the group it
// receives from (master:N); 0 is none. Group numbers are reused after a group
// is gone: compare only numbers read in one pass.
type MountState struct {
	Peer       int  `json:"peer,omitempty"`
	Master     int  `json:"master,omitempty"`
	Unbindable bool `json:"unbindable,omitempty"`
}

// ParseMountState reads the optional fields of a mountinfo line, such as
// "shared:313 master:1". Unknown fields are passed over, as proc(5) asks.
func ParseMountState(optional string) (MountState, error) {
	var state MountState
	for field := range strings.FieldsSeq(optional) {
		name, number, _ := strings.Cut(field, ":")
		var to *int
		switch name {
		case "shared":
			to = &state.Peer
		case "master":
			to = &state.Master
		case "unbindable":
			state.Unbindable = true
			continue
		default:
			continue
		}
		n, err := strconv.Atoi(number)
		if err != nil || n <= 0 {
			return MountState{}, fmt.Errorf("parse propagation field %q: want a peer group number", field)
		}
		*to = n
	}
	return state, nil
}

// String returns the state as mountinfo writes it, and "private" for none.
func (s MountState) String() string {
	var words []string
	if s.Peer != 0 {
		words = append(words, "shared:"+strconv.Itoa(s.Peer))
	}
	if s.Master != 0 {
		words = append(words, "master:"+strconv.Itoa(s.Master))
	}
	if s.Unbindable {
		words = append(words, "unbindable")
	}
	if len(words) == 0 {
		return "private"
	}
	return strings.Join(words, " ")
}

// Shared reports whether later mounts travel both ways between this mount and
// its peer group.
func (s MountState) Shared() bool { return s.Peer != 0 }

// Receives reports whether a slave of this mount sees any later mount: its own
// group's, or only those from above.
func (s MountState) Receives() bool { return s.Peer != 0 || s.Master != 0 }

// Is reports whether a mount in this state is of a kind: "shared" where it has a
// peer group and "slave" where it has a master, so that one that has both is
// either; "private" where it has neither and may be bound.
func (s MountState) Is(kind Propagation) bool {
	switch kind {
	case Shared:
		return s.Peer != 0
	case Slave:
		return s.Master != 0
	case Unbindable:
		return s.Unbindable
	case Private:
		return s == MountState{}
	default:
		return false
	}
}
