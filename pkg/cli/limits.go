package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/volumes"
)

// limitsIOMax is the one kind of lines for cgroups there is.
const limitsIOMax = "io.max"

// printLimits prints nothing but lines for io.max: of what is written to or,
// where no container does and none was named, of what was asked for. That
// something is in memory or on a server is told, and is no failure.
func (o *volumesOptions) printLimits(c *cobra.Command, f found) error {
	limits, without := f.survey.Limits(o.filter)
	if len(limits) == 0 && len(without) == 0 && !o.filter.Named() {
		for _, t := range f.targets {
			if t.Storage == nil {
				continue
			}
			of, why := t.Storage.Limits(o.filter)
			limits = append(limits, of...)
			if len(of) == 0 {
				without = append(without, volumes.Unknown{What: t.Target, Why: why})
			}
		}
	}
	for i, l := range limits {
		if slices.Contains(limits[:i], l) {
			continue
		}
		if _, err := fmt.Fprintln(c.OutOrStdout(), l); err != nil {
			return err
		}
	}
	missing := ofContainers(f.survey.Select(o.filter).Unknown)
	if o.filter.Storage() { // else each is in what is without
		missing = append(missing, o.ended(f.survey)...)
	}
	var none []volumes.Unknown
	for _, u := range without {
		if why, unknown := strings.CutPrefix(u.Why, show.CannotTell); unknown {
			missing = append(missing, volumes.Unknown{What: u.What, Why: why})
		} else {
			none = append(none, u)
		}
	}
	tell(c.ErrOrStderr(), "no line for ", none)
	tellUnknown(c.ErrOrStderr(), missing)
	return f.result(len(limits), len(missing), "nothing that matches writes to a block device")
}
