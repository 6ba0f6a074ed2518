package pins

import (
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/internal/mangle"
)

// fstabLines returns the lines of an fstab(5) whose device is one of the names.
func fstabLines(text string, names []string) (all []string) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) >= 2 && slices.Contains(names, mangle.Unescape(fields[0])) {
			all = append(all, strings.Join(fields, " "))
		}
	}
	return all
}
