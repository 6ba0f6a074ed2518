package hostview

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/internal/mangle"
)

// Line returns the entry as a line of mountinfo, escaped as the kernel does, for
// evidence. Superblock options that were not kept are left out.
func (e Entry) Line() string {
	state := ""
	if s := e.State.String(); s != "private" {
		state = s + " "
	}
	line := fmt.Sprintf("%d %d %s %s %s %s %s- %s %s %s", e.ID, e.Parent, e.Device,
		mangle.Escape(e.Root), mangle.Escape(e.MountPoint), e.Options, state, mangle.Escape(e.FSType), mangle.Escape(e.Source), e.SuperOptions)
	return strings.TrimSuffix(line, " ")
}
