package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

type diffOptions struct {
	recordedOptions
	changed policyOptions // the policy NEW
	output  string
}

func diffCommand(m machine) *cobra.Command {
	var o diffOptions
	c := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "tell which running containers two policies decide about differently",
		Long: `Diff decides about the mounts of all containers of this node, or of those of a
trail (--trail), by the policy files OLD and NEW, as at the creation of the
container and as in the mode "enforce", and prints the mounts about which they do
not decide alike, with both rules. Drop-ins beside a file belong to it; --drop-in
gives NEW one more, so that OLD and NEW can be one file. Nothing is changed, and no
daemon need run.

Exit code: 0 same, 1 one differs, 2 cannot tell, 64 usage.`,
		Example: `  mountward diff /etc/mountward/policy.toml new/policy.toml
  mountward diff policy.toml policy.toml --drop-in new.toml
  mountward diff old.toml new.toml --trail /var/log/mountward/audit.jsonl -o json`,
		Args: usageArgs(cobra.ExactArgs(2)),
		RunE: func(c *cobra.Command, args []string) error {
			if slices.Contains(args, "") {
				return &exit{ExitUsage, errors.New("a file name is empty")}
			}
			if err := o.check(c); err != nil {
				return err
			}
			if err := notEmpty(c, nil, "drop-in"); err != nil {
				return &exit{ExitUsage, err}
			}
			if err := checkFormat(o.output, formatTable, formatJSON); err != nil {
				return err
			}
			o.changed.file = args[1]
			return o.run(c, m, policyOptions{file: args[0]})
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 1 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return []string{"toml"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	o.flags(c)
	o.changed.dropInFlag(c, "NEW")
	outputFlag(c, &o.output, formatTable, formatJSON)
	return c
}

func (o *diffOptions) run(c *cobra.Command, m machine, old policyOptions) error {
	s, err := o.node.load(c)
	if err != nil {
		return err
	}
	var policies [2]*policy.Policy
	for i, one := range []*policyOptions{&old, &o.changed} {
		if policies[i], err = one.loadInTime(c.Context(), s); err != nil {
			return err
		}
	}
	t, err := o.readTrail(c)
	if err != nil {
		return err
	}
	d, err := bounded(c.Context(), m.most, func(ctx context.Context, at step) (show.Diff, error) {
		r, err := o.find(ctx, m, s, t, at)
		if err != nil {
			return show.Diff{}, err
		}
		defer r.close()
		return r.diff(ctx, policies, at), nil
	})
	if err != nil {
		return err
	}
	if o.output == formatJSON {
		err = show.JSON(c.OutOrStdout(), d)
	} else {
		err = show.DiffText(c.OutOrStdout(), d)
	}
	if err != nil {
		return err
	}
	tellUnknown(c.ErrOrStderr(), d.Unknown)
	switch {
	case d.Differ > 0:
		return &exit{code: ExitNo}
	case d.CannotTell > 0 || len(d.Unknown) > 0:
		return &exit{code: ExitCannotTell}
	default:
		return nil
	}
}

// diff decides about each container twice.
func (r *recorded) diff(ctx context.Context, policies [2]*policy.Policy, at step) show.Diff {
	d := show.Diff{Schema: show.DiffSchema, Unknown: r.unknown, Total: len(r.subjects)}
	var judges [2]judge
	for i, p := range policies {
		judges[i] = judgeOf(ctx, p, r.settings, r.node)
	}
	d.Old, d.New = policyShown(policies[0]), policyShown(policies[1])
	for _, s := range r.subjects {
		at("the mounts of container " + s.Container.Name)
		old, changed := judges[0].explain(ctx, s), judges[1].explain(ctx, s)
		one := show.DiffContainer{Container: old.Container}
		for i := range old.Mounts {
			m := show.DiffMountOf(old.Mounts[i], changed.Mounts[i])
			if m.Differs != facts.No && policies[0].SHA256 != policies[1].SHA256 {
				one.Mounts = append(one.Mounts, m)
			}
		}
		if len(one.Mounts) > 0 {
			d.Add(one)
		}
	}
	return d
}

func policyShown(p *policy.Policy) audit.Policy {
	return audit.Policy{Name: p.Name, SHA256: p.SHA256, Mode: string(p.Mode)}
}
