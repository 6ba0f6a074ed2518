package cli

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/control"
	"github.com/mountward/mountward/pkg/settings"
)

type emergencyOptions struct {
	length time.Duration
	end    bool
	config Config
}

func emergencyCommand(p Program) *cobra.Command {
	var o emergencyOptions
	c := &cobra.Command{
		Use:   "emergency {--for DURATION|--end}",
		Short: "let containers be created unjudged for a time",
		Long: `Emergency tells the daemon to answer every request without a change until the
time is up; one that is restarted meanwhile goes on with that, until a reboot.
If no daemon answers, the command itself registers with containerd under
mountward's name and changes nothing, in the foreground, until the time is up
or it is interrupted: so a node that requires mountward can create containers.

Both are recorded, at error level, when they begin and when they end. DURATION
is 1s to 24h, such as 30m; asking again sets a new end.

Exit code: 0 done, 1 failed, 64 usage.`,
		Example: `  mountward emergency --for 30m
  mountward emergency --end`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(c); err != nil {
				return &exit{ExitUsage, err}
			}
			if os.Geteuid() != 0 {
				return errors.New("emergency needs root")
			}
			o.config.Explicit = c.Flags().Changed("config")
			s, err := nodeOptions{config: o.config.Path}.load(c)
			if err != nil {
				return err
			}
			if o.end {
				return o.finish(c, s)
			}
			return o.begin(c, p, s)
		},
	}
	configFlag(c, &o.config.Path)
	c.Flags().DurationVar(&o.length, "for", 0, "how long, 1s to 24h")
	c.Flags().BoolVar(&o.end, "end", false, "end it now")
	c.Flags().StringVar(&o.config.Socket, "socket", DefaultSocket, "NRI `socket`, for where no daemon answers")
	c.Flags().StringVar(&o.config.Index, "index", DefaultIndex, "plugin `index`, for where no daemon answers")
	return c
}

func (o *emergencyOptions) check(c *cobra.Command) error {
	given := c.Flags().Changed("for")
	switch {
	case o.end && given:
		return errors.New("--for begins an emergency and --end ends it: not both")
	case o.end:
	case !given:
		return errors.New("for how long? give --for, such as --for 30m, or --end")
	default:
		if err := control.CheckEmergency(o.length); err != nil {
			return err
		}
	}
	if err := notEmpty(c, nil, "config"); err != nil {
		return err
	}
	return o.config.check()
}

// begin asks the daemon. Only where none answers does the command stand in.
func (o *emergencyOptions) begin(c *cobra.Command, p Program, s settings.Settings) error {
	until := time.Now().Add(o.length).Truncate(time.Second).Format(time.RFC3339)
	r, err := control.Ask(c.Context(), s.RuntimeDir, control.Request{Verb: control.VerbEmergency, For: o.length.String()})
	switch {
	case err == nil:
		loud(c, "the daemon stands aside until "+until+": containers are created unjudged; to end it: mountward emergency --end")
		if r.Warning != "" {
			warn(c.ErrOrStderr(), show.Line(r.Warning))
		}
		return nil
	case !errors.Is(err, control.ErrNoAnswer):
		return err
	}
	loud(c, show.Line(err.Error())+"; this command takes the place of mountward until "+until+" or until it is interrupted, once it is registered")
	if err := p.StandIn(c.Context(), o.config, o.length, c.ErrOrStderr()); err != nil {
		return fmt.Errorf("stand in for the daemon: %w", err)
	}
	loud(c, "over: mountward is away again, and containers are refused where containerd requires it; start it")
	return nil
}

// finish ends an emergency, that of a daemon or of another command.
func (o *emergencyOptions) finish(c *cobra.Command, s settings.Settings) error {
	_, err := control.Ask(c.Context(), s.RuntimeDir, control.Request{Verb: control.VerbEmergency, End: true})
	if err == nil {
		loud(c, "ended: the daemon decides again")
		return nil
	}
	if !errors.Is(err, control.ErrNoAnswer) {
		return err
	}
	// A note that cannot be read ends nothing, and is removed all the same.
	if _, noted, readErr := control.ReadEmergency(s.RuntimeDir); readErr == nil && !noted {
		return fmt.Errorf("there is no emergency to end: %w", err)
	}
	if err := control.RemoveEmergency(s.RuntimeDir); err != nil {
		return err
	}
	loud(c, "ended: no daemon runs, and a command that stands in for it stops")
	return nil
}

func loud(c *cobra.Command, text string) {
	fmt.Fprintf(c.ErrOrStderr(), "mountward: EMERGENCY: %s\n", text)
}

// noted says that an emergency is on, "" where none is, for who finds no daemon.
func noted(s settings.Settings) string {
	e, ok, err := control.ReadEmergency(s.RuntimeDir)
	if err != nil || !ok || !e.On(time.Now()) {
		return ""
	}
	return "an emergency is on until " + e.Until.Truncate(time.Second).Format(time.RFC3339)
}
