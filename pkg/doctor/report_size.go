package doctor

import "fmt"

// Size is how large the mount table of a place is, and of what: what grows
// without end is told by two of them.
type Size struct {
	Role   string         `json:"role"`
	PID    int            `json:"pid,omitempty"`
	Inode  uint64         `json:"namespace,omitempty"`
	Mounts int            `json:"mounts"`
	Types  map[string]int `json:"types"`         // mounts by the type of the file system
	Why    string         `json:"why,omitempty"` // why there is no table
}

// Sizes returns the sizes of all places, in their order.
func Sizes(s *Snapshot) []Size {
	var all []Size
	for _, p := range s.Places {
		size := Size{Role: p.Role, PID: p.Process.PID, Inode: p.Inode, Why: p.Why}
		if p.Table != nil {
			size.Mounts = p.Table.Len()
			size.Types = map[string]int{}
			for e := range p.Table.All() {
				size.Types[e.FSType]++
			}
		}
		all = append(all, size)
	}
	return all
}

// known says that the table was read.
func (s Size) known() bool { return s.Types != nil && s.Mounts > 0 }

// show is the command that counts the mounts.
func (s Size) show() string { return fmt.Sprintf("wc -l /proc/%d/mountinfo", s.PID) }
