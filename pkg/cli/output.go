package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/volumes"
)

// The formats of -o.
const (
	formatTable   = "table"
	formatTree    = "tree"
	formatJSON    = "json"
	formatMermaid = "mermaid"
)

// outputFlag adds -o to a verb; the first format is the default.
func outputFlag(c *cobra.Command, output *string, formats ...string) {
	c.Flags().StringVarP(output, "output", "o", formats[0], "`format`: "+oneOf(formats))
	// It fails only for a flag that is not there.
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
}

// checkFormat makes a format that the verb does not have a usage error.
func checkFormat(output string, formats ...string) error {
	if slices.Contains(formats, output) {
		return nil
	}
	return &exit{ExitUsage, fmt.Errorf("-o %s: want %s", show.Word(output), oneOf(formats))}
}

func oneOf(words []string) string {
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// maxTold bounds the lines of one kind about what is not known. JSON has all.
const maxTold = 20

// tellUnknown says what could not be read.
func tellUnknown(w io.Writer, unknown []volumes.Unknown) { tell(w, "cannot tell: ", unknown) }

// tell prints one line each, and how many more there are.
func tell(w io.Writer, what string, all []volumes.Unknown) {
	for _, u := range all[:min(maxTold, len(all))] {
		fmt.Fprintf(w, "mountward: %s%s: %s\n", what, show.Line(u.What), show.Line(u.Why))
	}
	if more := len(all) - maxTold; more > 0 {
		fmt.Fprintf(w, "mountward: %s%d more\n", what, more)
	}
}

// ofContainers leaves out of what could not be read that some marks were not
// looked for: that is so where not all containers are known, of which it tells
// nothing new, and where there is no container.
func ofContainers(unknown []volumes.Unknown) []volumes.Unknown {
	return slices.DeleteFunc(slices.Clone(unknown), func(u volumes.Unknown) bool { return strings.HasPrefix(u.What, "marks ") })
}
