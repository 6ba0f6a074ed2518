package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/control"
)

func reloadCommand() *cobra.Command {
	var o nodeOptions
	c := &cobra.Command{
		Use:   "reload",
		Short: "have the daemon load its policy anew, and say what came of it",
		Long: `Reload has the running daemon, launched or as a service, read its policy and the
drop-ins beside it, waits for that, and prints what is in force, or every mistake
with its place. A policy with a mistake never replaces the one in force. It needs
root. The settings are not read anew: that takes a restart.

The daemon finds changed files by itself as well, within seconds.

Exit code: 0 the policy is in force, 1 it is not, 2 no daemon answers or the files
were not read in time, 64 usage.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := notEmpty(c, nil, "config"); err != nil {
				return &exit{ExitUsage, err}
			}
			s, err := o.load(c)
			if err != nil {
				return err
			}
			r, err := control.Ask(c.Context(), s.RuntimeDir, control.Request{Verb: control.VerbReload})
			if err == nil && r.Policy == nil {
				err = fmt.Errorf("mountward %s answers without its policy", show.Word(r.Version))
			}
			if err != nil {
				return &exit{ExitCannotTell, err}
			}
			return reloaded(c.OutOrStdout(), c.ErrOrStderr(), *r.Policy)
		},
	}
	configFlag(c, &o.config)
	return c
}

// reloaded prints what came of a reload.
func reloaded(out, errs io.Writer, p control.Policy) error {
	if len(p.Wrong) == 0 {
		_, err := fmt.Fprintln(out, "in force: "+show.Policy(p))
		return err
	}
	for _, mistake := range p.Wrong {
		fmt.Fprintln(errs, show.Line(mistake))
	}
	return &exit{ExitNo, errors.New(show.Word(p.Configured) + " is not in force; what is: " + show.Policy(p))}
}
