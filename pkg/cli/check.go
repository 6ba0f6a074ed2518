package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/policyfile"
	"github.com/mountward/mountward/pkg/settings"
)

// stdin is the name of standard input in positions.
const stdin = "<stdin>"

func checkCommand() *cobra.Command {
	var path string
	var o checkOptions
	c := &cobra.Command{
		Use:   "check [FILE]",
		Short: "read a policy as the daemon would, and tell what in it is perhaps not meant",
		Long: `Check reads FILE and the drop-ins beside it (policy.d/*.toml) with the daemon's
own parser and prints every error with its place. Without FILE it reads the
settings and the policy they name, as the daemon would at its start. "-" is
standard input, one file without drop-ins. With --drop-in it checks what the
policy would be with one more: as if that file were in policy.d.

Of a policy that would be loaded it prints what is perhaps not meant: rules that
nothing comes to, globs that nothing can match, exemptions that a tenant can take,
changes that lose data. Each has its place and a code with a page ("mountward
explain MW208"). The key lint_ignore silences one, in a rule or above the first
header for all. With --containerd it also tells which rules ask for what that
release does not tell.

Exit code: 0 it would be loaded, 1 not, or --strict and findings, 64 usage.`,
		Example: `  mountward check
  mountward check --strict policy.toml
  mountward check --drop-in new.toml
  mountward check --containerd 2.1 -o json policy.toml`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			if err := notEmpty(c, nil, "drop-in"); err != nil {
				return &exit{ExitUsage, err}
			}
			if len(o.dropIns) > 0 && slices.Contains(args, "-") {
				return &exit{ExitUsage, errors.New("--drop-in adds rules to a policy file, and standard input is none: name it")}
			}
			if len(args) == 1 {
				if c.Flags().Changed("config") {
					return &exit{ExitUsage, errors.New("check takes a FILE or --config, not both")}
				}
				return checkFile(c, o, args[0])
			}
			return checkConfigured(c, o, settings.Source{Path: path, Explicit: c.Flags().Changed("config")})
		},
	}
	configFlag(c, &path)
	o.dropInFlag(c, "the policy")
	c.Flags().BoolVar(&o.strict, "strict", false, "fail also where something is perhaps not meant")
	c.Flags().StringVar(&o.containerd, "containerd", "", "`version` of the containerd that the policy is for, such as 2.1")
	outputFlag(c, &o.output, formatTable, formatJSON)
	return c
}

func checkFile(c *cobra.Command, o checkOptions, name string) error {
	if name != "-" {
		o.file = name
		p, set, err := o.load(settings.Settings{})
		if err != nil && inDropInDir(name) {
			hint(c.ErrOrStderr(), "a file of "+policy.DropInDir+" adds rules to the policy beside that directory; to check them together, give the main file: mountward check FILE")
		}
		return o.checked(c, p, set, err)
	}
	set, err := readPolicy(c.InOrStdin())
	if err != nil {
		return err
	}
	p, err := set.Parse()
	return o.checked(c, p, set, err)
}

// readPolicy reads a policy of one file from standard input.
func readPolicy(r io.Reader) (policyfile.Set, error) {
	data, err := io.ReadAll(io.LimitReader(r, policyfile.MaxSize+1))
	if err != nil {
		return policyfile.Set{}, fmt.Errorf("read standard input: %w", err)
	}
	return policyfile.Set{Main: policy.File{Name: stdin, Data: data}}, nil
}

func inDropInDir(name string) bool {
	abs, err := filepath.Abs(name)
	return err == nil && filepath.Base(filepath.Dir(abs)) == policy.DropInDir
}

// checkConfigured checks the settings and the policy they name; a mistake in
// either keeps the policy from going into force.
func checkConfigured(c *cobra.Command, o checkOptions, source settings.Source) error {
	s, name, settingsErr := source.Load()
	o.lint.Vars = policy.Vars{KubeletRoot: s.Host.KubeletRoot, RuntimeState: s.Host.RuntimeState, RuntimeRoot: s.Host.RuntimeRoot}
	switch {
	case settingsErr != nil:
		fmt.Fprintln(c.ErrOrStderr(), settingsErr)
	case o.output == formatTable:
		fmt.Fprintf(c.OutOrStdout(), "%s: settings are good\n", name)
	}
	p, set, err := o.load(s)
	err = o.checked(c, p, set, err)
	if settingsErr != nil {
		if err != nil {
			fmt.Fprintln(c.ErrOrStderr(), err)
		}
		return &exit{code: ExitNo, err: errors.New("the settings are not good; the daemon would use what it can read of them and take it as a policy error")}
	}
	return err
}

// settingsName is what to write after --config, which reads files only.
func settingsName(name string) string {
	if name == stdin {
		return "FILE"
	}
	return name
}
