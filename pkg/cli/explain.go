package cli

import (
	"github.com/spf13/cobra"
)

func explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [MWnnn]",
		Short: "tell what a code is, of a hazard or of lint, and how to cure it",
		Long: `Explain prints the page of a code. Hazards (MW1nn), as records and refusals name
them: what it is, why it is dangerous, how to see it on a node, how to cure it,
and how the policy ignores or denies it. Lint (MW2nn), as "mountward check" names
them: what the policy says, why it is perhaps not meant, and how to fix it, with a
policy before and after. Without a code it lists all.

Exit code: 0, 64 usage or no such code.`,
		Example: "  mountward explain MW101\n  mountward explain MW208",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listCodes(c.OutOrStdout())
			}
			return explainCode(c.OutOrStdout(), args[0])
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeCodes(), cobra.ShellCompDirectiveNoFileComp
		},
	}
}
