package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/learn"
	"github.com/mountward/mountward/pkg/policy"
)

type learnOptions struct {
	recordedOptions
	output string
	force  bool
}

func learnCommand(m machine) *cobra.Command {
	var o learnOptions
	c := &cobra.Command{
		Use:   "learn",
		Short: "write a policy that allows what is running, and nothing more",
		Long: `Learn looks at the containers of this node, or at those of a trail (--trail), and
prints a policy that allows the propagation that their mounts ask for, by
namespace, workload, container and source, and denies more. The policy is in the
mode "audit": it refuses nothing until somebody writes "enforce". With --output it
is written with tests that hold it to what was seen. Nothing on the node is
changed, and no daemon need run.

One rule allows rprivate mounts to everybody, since nothing travels through them.
A workload is known by the names of its pods without what controllers generate.
What was seen and could not be learned is told, also at the top of the policy.

Exit code: 0, 2 not all could be read or learned, or nothing, 64 usage.`,
		Example: `  mountward learn --output learned && mountward test learned --coverage
  journalctl -t mountward -o json --all | mountward learn --trail - >policy.toml`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.check(c); err != nil {
				return err
			}
			if err := notEmpty(c, nil, "output"); err != nil {
				return &exit{ExitUsage, err}
			}
			if o.force && o.output == "" {
				return &exit{ExitUsage, errors.New("--force goes with --output")}
			}
			return o.run(c, m)
		},
	}
	o.flags(c)
	c.Flags().StringVar(&o.output, "output", "", "write "+learn.PolicyName+" and "+learn.TestsName+" to a `directory`, which is made")
	c.Flags().BoolVar(&o.force, "force", false, "replace files that are there")
	_ = c.MarkFlagDirname("output") // fails only for a flag that is not there
	return c
}

func (o *learnOptions) run(c *cobra.Command, m machine) error {
	s, err := o.node.load(c)
	if err != nil {
		return err
	}
	t, err := o.readTrail(c)
	if err != nil {
		return err
	}
	l, err := bounded(c.Context(), m.most, func(ctx context.Context, at step) (learn.Learned, error) {
		r, err := o.find(ctx, m, s, t, at)
		if err != nil {
			return learn.Learned{}, err
		}
		defer r.close()
		at("the mounts of the containers")
		l, err := learn.Learn(r.seen(ctx))
		if err != nil {
			err = &exit{ExitCannotTell, err}
		}
		return l, err
	})
	if err != nil {
		return err
	}
	if o.output != "" {
		err = writeLearned(c.OutOrStdout(), o.output, l, o.force)
	} else {
		_, err = c.OutOrStdout().Write(l.Policy)
	}
	if err != nil {
		return err
	}
	tellUnknown(c.ErrOrStderr(), l.Unknown)
	if len(l.Unknown) > 0 {
		return &exit{ExitCannotTell, fmt.Errorf("the policy is not complete: what could not be read or learned is in its first lines (%d)", len(l.Unknown))}
	}
	return nil
}

// seen is what is learned from, with what the host view knows of the sources.
func (r *recorded) seen(ctx context.Context) learn.Seen {
	s := learn.Seen{From: r.from, Vars: r.values, Changed: r.changed, Unknown: r.unknown}
	j := judge{env: policy.Env{Vars: r.values}}
	if r.node != nil {
		j.host = r.node.view
	}
	for _, subject := range r.subjects {
		if j.host != nil {
			j.resolve(ctx, &subject)
		}
		c := subject.Container
		c.Mounts = append([]facts.Mount{}, c.Mounts...)
		s.Containers = append(s.Containers, c)
	}
	return s
}
