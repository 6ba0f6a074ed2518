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
			if slices.Contains(args, "") {
				return &exit{ExitUsage, errors.New("TARGET is empty, which names nothing")}
			}
			if err := notEmpty(c, args, "config", "state"); err != nil {
				return &exit{ExitUsage, err}
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
	node    *node
	reports []pins.Report
	unknown []namespaces.Unknown
}

func (o *pinsOptions) run(c *cobra.Command, m machine, args []string) error {
	s, err := o.node.load(c)
	if err != nil {
		return err
	}
	x, err := bounded(c.Context(), m.most, func(ctx context.Context, at step) (pinned, error) {
		n, err := o.node.open(ctx, m, s, at)
		if err != nil {
			return pinned{}, &exit{ExitCannotTell, err}
		}
		x := pinned{node: n}
		if err := o.find(ctx, &x, args, at); err != nil {
			n.close()
			return x, err
		}
		return x, nil
	})
	if err != nil {
		return err
	}
	defer x.node.close()
	p := show.Pins{Schema: show.PinsSchema, Node: x.node.shown(), Unknown: x.unknown, Groups: pins.Groups(x.reports)}
	for i := range x.reports {
		if !o.all || x.reports[i].Pinned() != facts.No {
			p.Reports = append(p.Reports, x.reports[i])
		}
	}
	if err := printAs(c, o.output, p, show.PinsTable); err != nil {
		return err
	}
	missing := slices.Concat(x.unknown, unknownOf(x.reports))
	tellUnknown(c.ErrOrStderr(), asVolumes(missing))
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
func (o *pinsOptions) find(ctx context.Context, x *pinned, args []string, at step) error {
	n := x.node
	at("what was asked for")
	var targets []target.Target
	var err error
	if o.all {
		targets, err = target.LVs(ctx, target.Node{Proc: n.proc, Sys: n.sys, KubeletRoot: n.kubelet.root, Host: n.view, Devices: n.devices.Moment()})
	} else {
		targets, err = n.resolve(ctx, args[0])
	}
	if err != nil {
		return &exit{ExitCannotTell, errors.New(show.Line(err.Error()))}
	}
	at("the containers")
	tasks, unknown := namespaces.Tasks(ctx, n.view, n.states)
	at("the mount namespaces")
	census, err := namespaces.Take(ctx, namespaces.Options{Proc: n.proc, Tasks: tasks})
	if err != nil {
		return &exit{ExitCannotTell, err}
	}
	node := pins.Node{
		Proc: n.proc, Sys: n.sys, KubeletRoot: n.kubelet.root, Census: census, Tables: census, Tasks: tasks,
		TasksWhy: o.tasksWhy(n, unknown), Devices: n.devices.Moment(), Host: n.view, Opens: pins.DeviceMapper(n.dev), FSType: pins.Probe(n.dev),
		Self: os.Getpid(),
	}
	host, err := n.hostNamespaces(census)
	if err != nil {
		x.unknown = append(x.unknown, namespaces.Unknown{What: "the host's mount namespace", Why: err.Error()})
	}
	if len(host) > 0 {
		node.Home = host[0]
	}
	for _, u := range ofContainers(n.unknown) {
		x.unknown = append(x.unknown, namespaces.Unknown(u))
	}
	x.unknown = append(x.unknown, unknown...)
	at("the mount tables and processes")
	x.reports = pins.FindAll(ctx, node, targets)
	return nil
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
