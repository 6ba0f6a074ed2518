package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/pins"
	"github.com/mountward/mountward/pkg/target"
)

type pinsOptions struct {
	node   nodeOptions
	all    bool
	output string
}

func pinsCommand(m machine) *cobra.Command {
	var o pinsOptions
	c := &cobra.Command{
		Use:   "pins {TARGET|--all}",
		Short: "print who holds a volume, so that it cannot be unmounted or removed, and what makes them let go",
		Long: `Pins prints everything that holds TARGET: mounts in every mount namespace of the
node, overlays, open and mapped files and working directories, also those that a
lazy unmount has hidden, devices built on it, swap areas and exports. Each comes
with its evidence, the reason, and the cures from gentle to rough. Where nothing
is found it prints what was searched and what can still be it. Nothing is changed
and nothing is run; neither the daemon nor containerd need run.

TARGET is VG/LV, a device or MAJ:MIN, a path, a container, a pod, or the file of a
namespace such as /run/netns/x. A path that is no mount point means that part of
its file system, and a directory also what the host has mounted below it. With
--all it prints every logical volume whose file system neither the host nor a pod
uses and that something holds all the same, or may hold.

Exit code: 0 nothing holds it, 1 something does (also a pod that just uses it),
2 nothing was found and not all could be read, or something can hold it that
cannot be told of, or no such target; 64 usage.`,
		Example: `  mountward pins vg0/pvc-1
  mountward pins 253:7
  mountward pins /run/netns/cni-1
  mountward pins --all -o json`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkTarget(c, args); err != nil {
				return err
			}
			switch {
			case len(args) == 0 && !o.all:
				return &exit{ExitUsage, errors.New("pins of what? name a TARGET, or give --all")}
			case len(args) > 0 && o.all:
				return &exit{ExitUsage, errors.New("pins takes a TARGET or --all, not both")}
			}
			if err := checkFormat(o.output, formatTable, formatJSON); err != nil {
				return err
			}
			return o.run(c, m, args)
		},
	}
	o.node.flags(c)
	c.Flags().BoolVar(&o.all, "all", false, "every logical volume that is or may be held though nobody uses it")
	outputFlag(c, &o.output, formatTable, formatJSON)
	return c
}

// pinned is what the verb has found out before it prints anything.
type pinned struct {
	reports []pins.Report
	unknown []namespaces.Unknown
}

func (o *pinsOptions) run(c *cobra.Command, m machine, args []string) error {
	l, err := look(c, o.node, m, func(ctx context.Context, n *node, at step) (pinned, error) { return o.find(ctx, n, args, at) })
	if err != nil {
		return err
	}
	defer l.node.close()
	x := l.found
	p := show.Pins{Schema: show.PinsSchema, Node: l.node.shown(), Unknown: x.unknown, Groups: pins.Groups(x.reports)}
	for i := range x.reports {
		if !o.all || x.reports[i].Pinned() != facts.No {
			p.Reports = append(p.Reports, x.reports[i])
		}
	}
	if err := printAs(c, o.output, p, show.PinsTable); err != nil {
		return err
	}
	missing := slices.Concat(x.unknown, unknownOf(x.reports))
	tellUnknown(c.ErrOrStderr(), missing)
	return o.verdict(x, p, len(missing))
}

// unknownOf is what is unknown of the reports, each once: most of it is so of
// all of them.
func unknownOf(reports []pins.Report) (all []namespaces.Unknown) {
	seen := map[namespaces.Unknown]bool{}
	for i := range reports {
		for _, u := range reports[i].Unknown {
			if !seen[u] {
				seen[u] = true
				all = append(all, u)
			}
		}
	}
	return all
}

// find looks at the node.
func (o *pinsOptions) find(ctx context.Context, n *node, args []string, at step) (x pinned, err error) {
	at("what was asked for")
	var targets []target.Target
	if o.all {
		targets, err = target.LVs(ctx, target.Node{Proc: n.proc, Sys: n.sys, KubeletRoot: n.kubelet.root, Host: n.view, Devices: n.devices.Moment()})
	} else {
		targets, err = n.resolve(ctx, args[0])
	}
	if err != nil {
		return x, &exit{ExitCannotTell, errors.New(show.Line(err.Error()))}
	}
	crowd, err := n.crowd(ctx, at)
	if err != nil {
		return x, err
	}
	x.unknown = crowd.unknown
	node := pins.Node{
		Proc: n.proc, Sys: n.sys, KubeletRoot: n.kubelet.root, Census: crowd.census, Tables: crowd.census, Tasks: crowd.tasks,
		TasksWhy: o.tasksWhy(n, crowd.tasksUnknown), Devices: n.devices.Moment(), Host: n.view, Opens: pins.DeviceMapper(n.dev), FSType: pins.Probe(n.dev),
		Self: os.Getpid(),
	}
	if len(crowd.host) > 0 {
		node.Home = crowd.host[0]
	}
	at("the mount tables and processes")
	x.reports = pins.FindAll(ctx, node, targets)
	return x, nil
}

// tasksWhy says why not all containers are known.
func (o *pinsOptions) tasksWhy(n *node, unknown []namespaces.Unknown) string {
	switch {
	case n.statesWhy != "":
		return n.statesWhy
	case len(unknown) > 0:
		return fmt.Sprintf("not all containers could be read: %s: %s", unknown[0].What, unknown[0].Why)
	case len(n.states) == 0:
		return "no state directory of containerd was found (--state names one)"
	}
	return ""
}

// verdict is the exit code. What was found counts, whatever else could not be
// read.
func (o *pinsOptions) verdict(x pinned, p show.Pins, missing int) error {
	answer := facts.No
	if o.all && missing > 0 || len(x.unknown) > 0 {
		answer = facts.Unknown
	}
	for i := range p.Reports {
		of := p.Reports[i].Answer()
		if o.all {
			of = p.Reports[i].Pinned()
		}
		switch of {
		case facts.Yes:
			return &exit{code: ExitNo}
		case facts.Unknown:
			answer = facts.Unknown
		case facts.No:
		}
	}
	if answer == facts.Unknown {
		return &exit{code: ExitCannotTell}
	}
	return nil
}
