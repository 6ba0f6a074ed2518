package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/internal/file"
	"github.com/mountward/mountward/pkg/settings"
)

// The exit codes of every verb.
const (
	ExitYes        = 0
	ExitNo         = 1
	ExitCannotTell = 2
	ExitUsage      = 64
)

// Program is what the command line needs from its surroundings.
type Program struct {
	Args    []string // without the program's name
	Stdout  io.Writer
	Stderr  io.Writer
	Version string
	// Run is the daemon: it returns when ctx ends or its connection is beyond
	// repair.
	Run func(ctx context.Context, config Config) error
	// StandIn takes part as a plugin in the daemon's place for a time and
	// changes nothing.
	StandIn func(ctx context.Context, config Config, length time.Duration, stderr io.Writer) error
}

// Config says where the settings are.
type Config struct {
	Path     string // of mountward.toml
	Explicit bool   // the user named it, so it must exist
	Socket   string // of NRI
	Index    string // of the plugin
}

// exit is an error with the code it ends the program with. A nil err prints
// nothing: the verb has said what there is to say.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// Execute runs one command line and returns its exit code.
func Execute(ctx context.Context, p Program) int {
	root := &cobra.Command{
		Use:   "mountward",
		Short: "decides how mounts propagate between a node and its containers, proves it, and records it",
		Long: `mountward is an NRI plugin for containerd. It rewrites the mount propagation of
containers by a policy, proves in the kernel's tables that each decision came
true, and records in the journal what every task is mounted on.`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       p.Version,
		Args:          usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return c.Help()
		},
	}
	root.SetArgs(p.Args)
	out := &output{to: p.Stdout}
	root.SetOut(out)
	root.SetErr(p.Stderr)
	root.SetVersionTemplate("mountward {{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &exit{ExitUsage, err} })
	root.AddCommand(runCommand(p), checkCommand(), testCommand(), volumesCommand(thisMachine()), verifyCommand(thisMachine()),
		doctorCommand(thisMachine()), pinsCommand(thisMachine()), exposureCommand(thisMachine()),
		explainCommand(thisMachine()), learnCommand(thisMachine()), diffCommand(thisMachine()), exportCommand(),
		statusCommand(thisMachine()), reloadCommand(), emergencyCommand(p), versionCommand(p))

	once(root)

	err := root.ExecuteContext(ctx)
	code := ExitNo
	var e *exit
	switch {
	case errors.As(err, &e):
		code, err = e.code, e.err
	case out.err != nil: // which is no answer
		code, err = ExitCannotTell, fmt.Errorf("write the answer: %w; what was printed is not all", file.Bare(out.err))
	case err == nil:
		return ExitYes
	case strings.HasPrefix(err.Error(), "unknown command"):
		code = ExitUsage
	}
	if err != nil {
		for i, line := range strings.Split(err.Error(), "\n") {
			if i == 0 {
				line = "mountward: error: " + line
			}
			fmt.Fprintln(p.Stderr, show.Line(line))
		}
	}
	if code == ExitUsage {
		fmt.Fprintln(p.Stderr, "hint: mountward --help lists the verbs, mountward VERB --help their flags")
	}
	return code
}

// usageArgs makes a complaint about arguments a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return &exit{ExitUsage, err}
		}
		return nil
	}
}

// configFlag adds --config to a verb.
func configFlag(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "config", settings.DefaultPath, "settings `file`")
}
