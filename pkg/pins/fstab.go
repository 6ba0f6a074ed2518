package pins

import (
	"slices"
	"strings"
)

// fstabLines returns the lines of an fstab(5) whose device is one of the names.
func fstabLines(text string, names []string) (all []string) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) >= 2 && slices.Contains(names, octal(fields[0])) {
			all = append(all, strings.Join(fields, " "))
		}
	}
	return all
}
