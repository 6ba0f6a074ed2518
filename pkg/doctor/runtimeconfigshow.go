package doctor

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/internal/shell"
	"github.com/mountward/mountward/pkg/runtimeconf"
)

// evidenceOf shows a place in a file.
func evidenceOf(at runtimeconf.Position) []Evidence {
	switch {
	case at.File == "":
		return nil
	case at.Line == 0:
		return []Evidence{{Text: at.File, Show: "ls -l " + shell.Quote(at.File)}}
	default:
		return []Evidence{{Text: at.String() + ": " + at.Text, Show: fmt.Sprintf("sed -n %dp %s", at.Line, shell.Quote(at.File))}}
	}
}

// evidence shows where a setting has its value from.
func (r *containerd) evidence(at runtimeconf.Position, key string) []Evidence {
	if at.File == "" {
		return []Evidence{{
			Text: key + ": containerd's default, no file sets it",
			Show: "containerd --config " + shell.Quote(r.config.Path) + " config dump | grep " + key,
		}}
	}
	return evidenceOf(at)
}

// subject is the file that a problem is of.
func subject(at runtimeconf.Position, c *runtimeconf.Config) string {
	if at.File == "" {
		return c.Path
	}
	return at.File
}

// shorten lists names, many of them cut short.
func shorten(names []string) string {
	if len(names) > 4 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:3], ", "), len(names)-3)
	}
	return strings.Join(names, ", ")
}
