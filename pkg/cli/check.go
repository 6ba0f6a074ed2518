package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/config"
	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/internal/strict"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/policyfile"
	"github.com/mountward/mountward/pkg/settings"
)

// stdin is the name of standard input in positions.
const stdin = "<stdin>"

func checkCommand() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "check [FILE]",
		Short: "read a policy as the daemon would",
		Long: `Check reads FILE and the drop-ins beside it (policy.d/*.toml) with the daemon's
own parser and prints every error with its place. Without FILE it reads the
settings and the policy they name, as the daemon would at its start. "-" is
standard input, one file without drop-ins.

Exit code: 0 the daemon would load it, 1 it would not, 64 usage.`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				if c.Flags().Changed("config") {
					return &exit{ExitUsage, errors.New("check takes a FILE or --config, not both")}
				}
				return checkFile(c, args[0])
			}
			return checkConfigured(c, settings.Source{Path: path, Explicit: c.Flags().Changed("config")})
		},
	}
	configFlag(c, &path)
	return c
}

func checkFile(c *cobra.Command, name string) error {
	if name != "-" {
		p, set, err := policyfile.LoadFile(name)
		if err != nil && inDropInDir(name) {
			hint(c.ErrOrStderr(), "a file of "+policy.DropInDir+" adds rules to the policy beside that directory; to check them together, give the main file: mountward check FILE")
		}
		return checked(c, p, set, err)
	}
	data, err := io.ReadAll(io.LimitReader(os.Stdin, policyfile.MaxSize+1))
	if err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	set := policyfile.Set{Main: policy.File{Name: stdin, Data: data}}
	p, err := set.Parse()
	return checked(c, p, set, err)
}

func inDropInDir(name string) bool {
	abs, err := filepath.Abs(name)
	return err == nil && filepath.Base(filepath.Dir(abs)) == policy.DropInDir
}

// checkConfigured checks the settings and the policy they name; a mistake in
// either keeps the policy from going into force.
func checkConfigured(c *cobra.Command, source settings.Source) error {
	s, name, settingsErr := source.Load()
	if settingsErr != nil {
		fmt.Fprintln(c.ErrOrStderr(), settingsErr)
	} else {
		fmt.Fprintf(c.OutOrStdout(), "%s: settings are good\n", name)
	}
	p, set, err := policyfile.Load(s, config.Policy())
	err = checked(c, p, set, err)
	if settingsErr != nil {
		if err != nil {
			fmt.Fprintln(c.ErrOrStderr(), err)
		}
		return &exit{code: ExitNo, err: errors.New("the settings are not good; the daemon would use what it can read of them and take it as a policy error")}
	}
	return err
}

// checked prints what came of loading a policy. Mistakes in its text are printed
// as they are; that it cannot be read at all is the error of the verb.
func checked(c *cobra.Command, p *policy.Policy, set policyfile.Set, err error) error {
	var mistakes strict.Errors
	switch {
	case err == nil:
		fmt.Fprintf(c.OutOrStdout(), "%s: policy is good: mode %s, default %s, %s, sha256 %.12s\n", p.Name, p.Mode, p.Default, show.Rules(len(p.Rules), 1+len(p.DropIns)), p.SHA256)
		return nil
	case !errors.As(err, &mistakes):
		return err
	}
	fmt.Fprintln(c.ErrOrStderr(), err)
	if settings.Mistaken(set.Main.Data) {
		hint(c.ErrOrStderr(), "this looks like settings, not like a policy; to check settings and the policy they name: mountward check --config "+settingsName(set.Main.Name))
	}
	return &exit{code: ExitNo}
}

// settingsName is what to write after --config, which reads files only.
func settingsName(name string) string {
	if name == stdin {
		return "FILE"
	}
	return name
}
