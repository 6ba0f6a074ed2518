package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/verify"
	"github.com/mountward/mountward/pkg/volumes"
)

type verifyOptions struct {
	node   nodeOptions
	all    bool
	output string
}

func verifyCommand(m machine) *cobra.Command {
	var o verifyOptions
	c := &cobra.Command{
		Use:   "verify {CONTAINER|POD|--all}",
		Short: "compare the mount propagation that was decided with what the kernel has",
		Long: `Verify reads what was decided at the creation of a container and compares it
with the mount tables of now, one line a mount. CONTAINER is an id or the
beginning of one, the name of a container, or the name or uid of a pod; all that
match are compared. Nothing is changed, and no daemon need run.

Exit code: 0 all as decided, 1 drift, 2 cannot tell, or nothing was decided,
64 usage.`,
		Example: `  mountward verify web-0
  mountward verify --all -o json`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := notEmpty(c, args, "config", "state"); err != nil {
				return &exit{ExitUsage, err}
			}
			switch {
			case len(args) == 0 && !o.all:
				return &exit{ExitUsage, errors.New("verify what? name a container or pod, or give --all")}
			case len(args) > 0 && o.all:
				return &exit{ExitUsage, errors.New("verify takes a name or --all, not both")}
			}
			if err := checkFormat(o.output, formatTable, formatJSON); err != nil {
				return err
			}
			return o.run(c, m, args)
		},
	}
	o.node.flags(c)
	c.Flags().BoolVar(&o.all, "all", false, "all containers of Kubernetes on the node")
	outputFlag(c, &o.output, formatTable, formatJSON)
	return c
}

func (o *verifyOptions) run(c *cobra.Command, m machine, args []string) error {
	l, err := look(c, o.node, m, func(ctx context.Context, n *node, at step) (volumes.Survey, error) {
		at("the containers")
		return n.survey(ctx), nil
	})
	if err != nil {
		return err
	}
	n, survey := l.node, l.found
	defer n.close()
	if !o.all {
		survey = survey.Select(volumes.Filter{Name: args[0]})
	}
	v := show.Verification{Schema: show.VerifySchema, Node: n.shown(), Unknown: ofContainers(survey.Unknown)}
	for _, member := range o.decidable(survey.Members) {
		v.Tasks = append(v.Tasks, show.Verified(member))
	}
	if err := o.print(c, v); err != nil {
		return err
	}
	tellUnknown(c.ErrOrStderr(), v.Unknown)
	switch {
	case len(v.Tasks) == 0 && !o.all:
		return &exit{ExitCannotTell, fmt.Errorf("no container or pod is %s: %s", show.Word(args[0]), n.searched())}
	case len(n.states) == 0:
		return &exit{ExitCannotTell, errors.New(n.searched())}
	}
	return o.verdict(v)
}

// kubernetes is the namespace of containerd that CRI uses.
const kubernetes = "k8s.io"

// decidable leaves out the containers that plugins are not told of: those that
// hold a pod's namespaces, and those that are not of Kubernetes. Where nothing
// else was named there is that to say of them.
func (o *verifyOptions) decidable(members []volumes.Member) []volumes.Member {
	told := slices.DeleteFunc(slices.Clone(members), func(m volumes.Member) bool {
		return m.Sandbox || m.Namespace != kubernetes
	})
	if len(told) == 0 && !o.all {
		return members
	}
	return told
}

func (o *verifyOptions) print(c *cobra.Command, v show.Verification) error {
	if o.output == formatJSON {
		return show.JSON(c.OutOrStdout(), v)
	}
	return show.VerifyTable(c.OutOrStdout(), v)
}

// verdict is the exit code of all together. What could not be read is of other
// containers where some were named and found.
func (o *verifyOptions) verdict(v show.Verification) error {
	code := ExitYes
	if o.all && len(v.Unknown) > 0 {
		code = ExitCannotTell
	}
	for _, t := range v.Tasks {
		switch t.Verdict {
		case verify.Drift:
			return &exit{code: ExitNo}
		case verify.Same:
		default:
			code = ExitCannotTell
		}
	}
	if code != ExitYes {
		return &exit{code: code}
	}
	return nil
}
