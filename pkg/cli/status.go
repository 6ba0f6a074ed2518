package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/control"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policyfile"
	"github.com/mountward/mountward/pkg/rollout"
	"github.com/mountward/mountward/pkg/settings"
)

type statusOptions struct {
	node    nodeOptions
	live    bool
	ready   bool
	enforce bool
	enough  rollout.Enough
	output  string
}

func statusCommand(m machine) *cobra.Command {
	o := statusOptions{enough: rollout.DefaultEnough()}
	c := &cobra.Command{
		Use:   "status",
		Short: "ask the daemon how it is",
		Long: `Status asks the running daemon, launched or as a service, and prints whether it
is connected to containerd, by which policy it decides, what makes the node fail
closed (yes, no, or cannot tell), and what it has counted since its start. It
needs root. Problems are named last.

--live and --ready are for probes: that the daemon answers, and that it is
connected and takes part in every request.

--ready-to-enforce tells how long the present policy has watched in audit mode
and what it would have refused, by rule: of what was created meanwhile, and of
what ran when the daemon connected or the policy came into force. A rule that is
in audit mode itself is not counted: the mode of the policy does not put it in
force. It only advises, and reads what was kept where no daemon runs.

Exit code: 0 healthy (live; ready), 1 a problem (not ready; refusals there would
have been), 2 no daemon answers (too little was seen), 64 usage.`,
		Example: `  mountward status
  mountward status --ready
  mountward status --ready-to-enforce -o json`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(c); err != nil {
				return &exit{ExitUsage, err}
			}
			s, err := o.node.load(c)
			if err != nil {
				return err
			}
			if o.enforce {
				return o.readyToEnforce(c, s)
			}
			return o.run(c, m, s)
		},
	}
	configFlag(c, &o.node.config)
	c.Flags().BoolVar(&o.live, "live", false, "only: does the daemon answer?")
	c.Flags().BoolVar(&o.ready, "ready", false, "only: is it connected, and asked about every container?")
	c.Flags().BoolVar(&o.enforce, "ready-to-enforce", false, "what would the policy have refused?")
	c.Flags().DurationVar(&o.enough.Time, "min-time", o.enough.Time, "with --ready-to-enforce: less time in audit is too little")
	c.Flags().Uint64Var(&o.enough.Containers, "min-containers", o.enough.Containers, "with --ready-to-enforce: fewer `containers` are too few")
	outputFlag(c, &o.output, formatTable, formatJSON)
	return c
}

func (o *statusOptions) check(c *cobra.Command) error {
	asked := 0
	for _, one := range []bool{o.live, o.ready, o.enforce} {
		if one {
			asked++
		}
	}
	if asked > 1 {
		return errors.New("--live, --ready and --ready-to-enforce are three questions: ask one")
	}
	if (o.live || o.ready) && c.Flags().Changed("output") {
		return errors.New("--live and --ready answer by the exit code: not together with -o")
	}
	if !o.enforce && (c.Flags().Changed("min-time") || c.Flags().Changed("min-containers")) {
		return errors.New("--min-time and --min-containers go with --ready-to-enforce")
	}
	if o.enough.Time < 0 {
		return fmt.Errorf("--min-time %s: want a time that is not negative", o.enough.Time)
	}
	if err := notEmpty(c, nil, "config"); err != nil {
		return err
	}
	return checkFormat(o.output, formatTable, formatJSON)
}

// ask returns the daemon's status.
func ask(c *cobra.Command, s settings.Settings) (*control.Status, error) {
	r, err := control.Ask(c.Context(), s.RuntimeDir, control.Request{Verb: control.VerbStatus})
	if err == nil && r.Status == nil {
		err = fmt.Errorf("mountward %s answers without its status", show.Word(r.Version))
	}
	return r.Status, err
}

func (o *statusOptions) run(c *cobra.Command, m machine, s settings.Settings) error {
	status, err := ask(c, s)
	if err != nil {
		if on := noted(s); on != "" {
			err = fmt.Errorf("%w; %s", err, on)
		}
		return &exit{ExitCannotTell, err}
	}
	switch {
	case o.live:
		return nil
	case o.ready && status.Ready():
		return nil
	case o.ready && len(status.Problems) == 0: // of another version
		return &exit{ExitNo, errors.New("not ready")}
	case o.ready:
		return &exit{ExitNo, fmt.Errorf("not ready: %s", show.Line(status.Problems[0].Why))}
	}
	status.FailClosed = append(status.FailClosed, m.configured(c.Context(), s, status.Connection.PID)...)
	if err := printAs(c, o.output, *status, show.StatusTable); err != nil {
		return err
	}
	if !status.Healthy() {
		return &exit{code: ExitNo}
	}
	return nil
}

// readyToEnforce tells what the policy would have refused, from the daemon or,
// where none runs, from what it has kept.
func (o *statusOptions) readyToEnforce(c *cobra.Command, s settings.Settings) error {
	r := show.Rollout{Schema: show.RolloutSchema, Enough: o.enough.Containers, EnoughTime: int64(o.enough.Time / time.Second)}
	stale := ""
	status, err := ask(c, s)
	switch {
	case err == nil && status.Rollout != nil:
		r.Tally, r.From = *status.Rollout, "the daemon"
		s.Policy = status.Policy.Configured
		if len(status.Policy.Wrong) > 0 {
			stale = fmt.Sprintf("%s is not in force: %s", show.Line(s.Policy), show.Line(status.Policy.Wrong[0]))
		}
	case err == nil:
		return &exit{ExitCannotTell, errors.New("the daemon does not count")}
	case !errors.Is(err, control.ErrNoAnswer):
		return &exit{ExitCannotTell, err}
	default:
		tally, found, readErr := rollout.Read(s.StateDir)
		if readErr != nil {
			return &exit{ExitCannotTell, readErr}
		}
		if !found {
			return &exit{ExitCannotTell, fmt.Errorf("nothing was counted yet: %w, and there is no %s", err, rollout.Path(s.StateDir))}
		}
		r.Tally, r.From = tally.Shown(), rollout.Path(s.StateDir)
	}
	if file, err := policyfile.Configured(s, nil); err == nil && stale == "" && file.SHA256() != r.Tally.Policy {
		stale = fmt.Sprintf("this was counted for another policy than the one that is in %s by now", show.Line(s.Policy))
	}
	if r.Answer = r.Tally.Ready(o.enough); stale != "" {
		r.Answer = facts.CannotTell(stale)
	}
	if err := printAs(c, o.output, r, show.RolloutTable); err != nil {
		return err
	}
	switch r.Answer.Truth {
	case facts.Yes:
		return nil
	case facts.No:
		return &exit{code: ExitNo}
	default:
		return &exit{code: ExitCannotTell}
	}
}
