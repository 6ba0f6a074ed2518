package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/exposure"
	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/target"
)

type exposureOptions struct {
	node    nodeOptions
	writers bool
	output  string
}

func exposureCommand(m machine) *cobra.Command {
	var o exposureOptions
	c := &cobra.Command{
		Use:   "exposure {TARGET|--writers}",
		Short: "print who can reach a volume, a pod's data or a path now, and who could mount onto the host",
		Long: `Exposure prints every container whose mount table shows TARGET now, at which path,
through which of its mounts, read-only or writable by that very mount, and as
which users; foreign ones first, the pod whose volume it is marked as its own.
"ro*" is read-only and can be remounted writable from inside, of "ro?" that cannot
be told. What a process has open, or stands in, counts as well where no mount
shows it any more. It is about reach, not permission: modes, ACLs and LSMs are not
judged.

TARGET is VG/LV, a device or MAJ:MIN, a path such as the directory of a secret, a
container, or a pod. What the host has mounted below a path is asked about with
it. The layers of an overlay count where the kernel proves them; else the overlay
is named as what cannot be told. With --writers it prints who has a mount that is shared with
the host, so that what is mounted there is so on the host, and who of them has
the right to mount; with TARGET only those that can mount onto, above or below
it.

The node itself, its services, and containers that need no mount since they are
privileged, are listed last and do not count. Nothing is changed; neither the
daemon nor containerd need run.

Exit code: 0 nobody reaches it (--writers: nobody can), 1 somebody does, or it
cannot be told of one whether he can, 2 nobody was found and not all could be
read, or no such target, 64 usage.`,
		Example: `  mountward exposure vg0/pvc-1
  mountward exposure /var/lib/kubelet/pods/UID/volumes/kubernetes.io~secret/tls -o json
  mountward exposure --writers`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkTarget(c, args); err != nil {
				return err
			}
			if len(args) == 0 && !o.writers {
				return &exit{ExitUsage, errors.New("exposure of what? name a TARGET, or give --writers")}
			}
			if err := checkFormat(o.output, formatTable, formatJSON); err != nil {
				return err
			}
			return o.run(c, m, args)
		},
	}
	o.node.flags(c)
	c.Flags().BoolVar(&o.writers, "writers", false, "print who could mount onto the host instead")
	outputFlag(c, &o.output, formatTable, formatJSON)
	return c
}

// exposed is what the verb has found out before it prints anything.
type exposed struct {
	shown    show.ExposedNode
	searched show.Searched
	targets  []target.Target
	report   exposure.Report
	writers  exposure.WriterReport
}

func (o *exposureOptions) run(c *cobra.Command, m machine, args []string) error {
	l, err := look(c, o.node, m, func(ctx context.Context, n *node, at step) (exposed, error) { return o.find(ctx, n, args, at) })
	if err != nil {
		return err
	}
	defer l.node.close()
	x := l.found
	for _, t := range x.targets {
		for _, note := range t.Notes {
			hint(c.ErrOrStderr(), show.Line(t.Name+": "+note))
		}
	}
	if o.writers {
		return o.printWriters(c, l)
	}
	return o.printReport(c, l)
}

func (o *exposureOptions) printReport(c *cobra.Command, l looked[exposed]) error {
	x := l.found
	e := show.Exposure{Schema: show.ExposureSchema, Node: x.shown, Targets: x.targets, Searched: x.searched, Report: x.report}
	if err := printAs(c, o.output, e, show.ExposureTable); err != nil {
		return err
	}
	tellUnknown(c.ErrOrStderr(), e.Unknown)
	if e.Below > 0 {
		hint(c.ErrOrStderr(), fmt.Sprintf("with what is mounted below it: %s", words.Count(e.Below, "mount")))
	}
	return o.verdict(c, l, e.Reached(), len(e.Unknown), "nobody but the node reaches it", e.Namespaces)
}

func (o *exposureOptions) printWriters(c *cobra.Command, l looked[exposed]) error {
	x := l.found
	w := show.Writers{Schema: show.WritersSchema, Node: x.shown, Targets: x.targets, Searched: x.searched, WriterReport: x.writers}
	if err := printAs(c, o.output, w, show.WritersTable); err != nil {
		return err
	}
	tellUnknown(c.ErrOrStderr(), w.Unknown)
	return o.verdict(c, l, w.Able(), len(w.Unknown), "nobody but the node can mount onto the host there", w.Namespaces)
}

// printAs writes a value as a table or as JSON.
func printAs[T any](c *cobra.Command, output string, v T, table func(io.Writer, T) error) error {
	if output == formatJSON {
		return show.JSON(c.OutOrStdout(), v)
	}
	return table(c.OutOrStdout(), v)
}

// verdict is the exit code. What was found counts, whatever else could not be
// read.
func (o *exposureOptions) verdict(c *cobra.Command, l looked[exposed], found bool, missing int, nothing string, searched int) error {
	switch {
	case found:
		return &exit{code: ExitNo}
	case missing > 0:
		return &exit{code: ExitCannotTell}
	}
	fmt.Fprintf(c.ErrOrStderr(), "mountward: %s: searched %s, %s; %s\n", nothing, words.Count(searched, "mount namespace"), words.Count(l.found.searched.Containers, "container"), l.node.searched())
	return nil
}
