package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/config"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/settings"
)

// stdin is the name of standard input in positions.
const stdin = "<stdin>"

func checkCommand() *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:   "check [FILE]",
		Short: "read a policy as the daemon would",
		Long: `Check reads FILE with the daemon's own parser and prints every error with its
place. Without FILE it reads the settings and the policy they name, as the
daemon would at its start. "-" is standard input.

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
		file, err := settings.ReadPolicyFile(name)
		if err != nil {
			return err
		}
		return checkPolicy(c, file)
	}
	data, err := io.ReadAll(io.LimitReader(os.Stdin, settings.MaxPolicySize+1))
	if err != nil {
		return fmt.Errorf("read standard input: %w", err)
	}
	return checkPolicy(c, settings.PolicyFile{Name: stdin, Data: data})
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
	file, err := s.ReadPolicy(config.Policy())
	if err == nil {
		err = checkPolicy(c, file)
	}
	if settingsErr != nil {
		if err != nil {
			fmt.Fprintln(c.ErrOrStderr(), err)
		}
		return &exit{code: ExitNo, err: errors.New("the settings are not good; the daemon would use what it can read of them and take it as a policy error")}
	}
	return err
}

func checkPolicy(c *cobra.Command, file settings.PolicyFile) error {
	p, err := policy.Parse(policy.File{Name: file.Name, Data: file.Data})
	if err != nil {
		fmt.Fprintln(c.ErrOrStderr(), err)
		if settings.Mistaken(file.Data) {
			fmt.Fprintf(c.ErrOrStderr(), "hint: this looks like settings, not like a policy; to check settings and the policy they name: mountward check --config %s\n", settingsName(file.Name))
		}
		return &exit{code: ExitNo}
	}
	rules := "1 rule"
	if n := len(p.Rules); n != 1 {
		rules = fmt.Sprintf("%d rules", n)
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: policy is good: mode %s, default %s, %s, sha256 %.12s\n", p.Name, p.Mode, p.Default, rules, p.SHA256)
	return nil
}

// settingsName is what to write after --config, which reads files only.
func settingsName(name string) string {
	if name == stdin {
		return "FILE"
	}
	return name
}
