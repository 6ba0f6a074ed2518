package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hazard"
	"github.com/mountward/mountward/pkg/internal/strict"
)

func explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [MWnnn]",
		Short: "tell what a hazard is, how to see it and how to cure it",
		Long: `Explain prints the page of a hazard code, as records and refusals name them:
what it is, why it is dangerous, how to see it on a node, how to cure it, and
how the policy ignores or denies it. Without a code it lists all.

Exit code: 0, 64 usage or no such code.`,
		Example: "  mountward explain MW101",
		Args:    usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listHazards(c.OutOrStdout())
			}
			return explainHazard(c.OutOrStdout(), args[0])
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var codes []string
			for _, code := range facts.HazardCodes() {
				codes = append(codes, string(code)+"\t"+hazard.Title(code))
			}
			return codes, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func listHazards(w io.Writer) error {
	for _, code := range facts.HazardCodes() {
		if _, err := fmt.Fprintf(w, "%s  %s\n", code, hazard.Title(code)); err != nil {
			return err
		}
	}
	return nil
}

func explainHazard(w io.Writer, text string) error {
	if page, ok := hazard.Page(facts.HazardCode(text)); ok {
		_, err := io.WriteString(w, page)
		return err
	}
	message := fmt.Sprintf("explain %s: there is no such code; mountward explain lists all", show.Word(text))
	if near := nearCodes(text); len(near) > 0 {
		message = fmt.Sprintf("explain %s: there is no such code; did you mean %s?", show.Word(text), strings.Join(near, ", "))
	}
	return &exit{ExitUsage, errors.New(message)}
}

// nearCodes returns the codes that a text may mean: the one that differs in
// case or by a letter or two, or all that begin like it.
func nearCodes(text string) []string {
	var all, near []string
	upper := strings.ToUpper(text)
	for _, code := range facts.HazardCodes() {
		all = append(all, string(code))
		if len(upper) > len("MW1") && strings.HasPrefix(string(code), upper) {
			near = append(near, string(code))
		}
	}
	if slices.Contains(all, upper) {
		return []string{upper}
	}
	if len(near) > 0 {
		return near
	}
	if nearest := strict.Nearest(upper, all); nearest != "" {
		return []string{nearest}
	}
	return nil
}
