package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/policytest"
	"github.com/mountward/mountward/pkg/settings"
)

// testWorkloads prints what a policy does to a table of workloads.
func testWorkloads(c *cobra.Command, f testFlags, args []string) error {
	switch {
	case len(args) > 1:
		return &exit{ExitUsage, fmt.Errorf("--workloads takes one policy, not %d", len(args))}
	case slices.Contains(args, ""):
		return &exit{ExitUsage, errors.New("the name of the policy is empty")}
	case len(args) == 1 && strings.HasSuffix(args[0], policytest.Suffix):
		return &exit{ExitUsage, fmt.Errorf("%s: with --workloads the argument is a policy; a file with tests names its table itself, under [workloads]", show.Word(args[0]))}
	}
	table, err := readTable(f.workloads, policytest.DefaultHost())
	if err != nil {
		return err
	}
	var s settings.Settings
	if len(args) > 0 {
		f.file = args[0]
	} else if s, _, err = f.config.Load(); err != nil {
		return err
	}
	p, _, err := f.load(s)
	if err != nil {
		return err
	}
	all := show.Workloads{
		Schema: show.WorkloadsSchema, Policy: p.Name, SHA256: p.SHA256,
		Table: f.workloads, Containers: table.Containers(), Effects: table.Effects(p, judgeTest),
	}
	all.Count()
	switch f.output {
	case formatJSON:
		err = show.JSON(c.OutOrStdout(), all)
	default:
		err = show.WorkloadsTable(c.OutOrStdout(), all)
	}
	if err == nil && all.Broken > 0 {
		return &exit{code: ExitNo}
	}
	return err
}
