package hostview

import (
	"fmt"
	"strings"
)

// Line returns the entry as a line of mountinfo, escaped as the kernel does, for
// evidence. Superblock options that were not kept are left out.
func (e Entry) Line() string {
	state := ""
	if s := e.State.String(); s != "private" {
		state = s + " "
	}
	line := fmt.Sprintf("%d %d %s %s %s %s %s- %s %s %s", e.ID, e.Parent, e.Device,
		escape(e.Root), escape(e.MountPoint), e.Options, state, escape(e.FSType), escape(e.Source), e.SuperOptions)
	return strings.TrimSuffix(line, " ")
}

// escape writes what would end a field as the kernel does (mangle in
// fs/proc_namespace.c), with three octal digits.
func escape(s string) string {
	return strings.NewReplacer(" ", `\040`, "\t", `\011`, "\n", `\012`, `\`, `\134`).Replace(s)
}
