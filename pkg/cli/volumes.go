package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/volumes"
)

type volumesOptions struct {
	node   nodeOptions
	filter volumes.Filter
	device string
	number facts.DeviceNumber // device
	path   string
	all    bool
	limits string
	output string
}

func volumesCommand(m machine) *cobra.Command {
	var o volumesOptions
	c := &cobra.Command{
		Use:   "volumes [CONTAINER|POD]",
		Short: "print what containers are stored on, down to logical volumes and disks",
		Long: `Volumes prints what the root filesystem and the volumes of each container of the
node are stored on. CONTAINER is an id or the beginning of one, the name of a
container, or the name or uid of a pod. With --lv, --device or --path it prints
who is on that volume, device or file system. Nothing is changed; neither the
daemon nor containerd need run.

Exit code: 0 something was found, 1 nothing is there or nothing matches,
2 something could not be read, 64 usage.`,
		Example: `  mountward volumes web-0 -o tree
  mountward volumes --lv vg0/pvc-1
  mountward volumes --path /data -o json
  mountward volumes web-0 --limits io.max`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.filter.Name = args[0]
			}
			if err := o.check(c); err != nil {
				return &exit{ExitUsage, err}
			}
			return o.run(c, m)
		},
	}
	o.node.flags(c)
	c.Flags().StringVar(&o.filter.Pod, "pod", "", "of the `pod` with this name")
	c.Flags().StringVar(&o.filter.Namespace, "namespace", "", "of pods in this `namespace`")
	c.Flags().StringVar(&o.filter.LV, "lv", "", "on the logical volume `VG/LV`")
	c.Flags().StringVar(&o.device, "device", "", "on the device `MAJ:MIN`")
	c.Flags().StringVar(&o.path, "path", "", "on the file system of this `path` of the host")
	c.Flags().BoolVar(&o.all, "all", false, "also pause containers, and the files the runtime mounts into every container")
	c.Flags().StringVar(&o.limits, "limits", "", "print lines for cgroup v2 instead: `io.max`")
	outputFlag(c, &o.output, formatTable, formatTree, formatJSON, formatMermaid)
	return c
}

// check refuses flags that do not go together.
func (o *volumesOptions) check(c *cobra.Command) error {
	if o.device != "" {
		if err := o.number.UnmarshalText([]byte(o.device)); err != nil {
			return fmt.Errorf("--device: %w", err)
		}
	}
	if o.filter.LV != "" && strings.Count(o.filter.LV, "/") != 1 {
		return fmt.Errorf("--lv %s: want VG/LV", show.Word(o.filter.LV))
	}
	switch o.limits {
	case "", limitsIOMax:
	default:
		return fmt.Errorf("--limits %s: want %s", show.Word(o.limits), limitsIOMax)
	}
	if o.limits != "" && c.Flags().Changed("output") {
		return errors.New("--limits has a format of its own: not together with -o")
	}
	return checkFormat(o.output, formatTable, formatTree, formatJSON, formatMermaid)
}

// limitsIOMax is the one kind of lines for cgroups there is.
const limitsIOMax = "io.max"

func (o *volumesOptions) run(c *cobra.Command, m machine) error {
	ctx, cancel := context.WithTimeout(c.Context(), surveyTime)
	defer cancel()
	n, err := o.node.open(c, m)
	if err != nil {
		return &exit{ExitCannotTell, err}
	}
	defer n.close()
	targets, err := o.targets(ctx, n)
	if err != nil {
		return err
	}
	survey := n.survey(ctx)
	for i := range targets {
		overlay(&targets[i], survey)
	}
	survey = survey.Select(o.filter)
	if o.limits != "" {
		return o.printLimits(c, n, survey, targets)
	}
	v := show.Volumes{Schema: show.VolumesSchema, Node: n.shown(), Targets: targets, Marks: survey.Marks, Unknown: survey.Unknown}
	for _, member := range survey.Members {
		v.Tasks = append(v.Tasks, show.TaskOf(member))
	}
	if err := o.print(c, v); err != nil {
		return err
	}
	missing := slices.Concat(ofContainers(v.Unknown), v.Missing())
	tellUnknown(c.ErrOrStderr(), missing)
	return o.result(n, len(v.Targets)+len(v.Tasks)+len(v.Marks), len(missing), "nothing matches")
}

// targets resolves what was asked for by path or device, and makes a filter of
// it. What is not there, or only mounted any more, is no target.
func (o *volumesOptions) targets(ctx context.Context, n *node) ([]show.Target, error) {
	var targets []show.Target
	if o.path != "" {
		t, err := n.path(ctx, o.path)
		if err != nil {
			code := ExitCannotTell
			if errors.Is(err, fs.ErrNotExist) {
				code = ExitNo
			}
			return nil, &exit{code, fmt.Errorf("--path %s: %s", show.Word(o.path), why(err))}
		}
		if t.Mount != nil {
			o.filter.Path = t.Mount.Identity()
		} else {
			o.filter.Device = t.Storage.Device
		}
		targets = append(targets, t)
	}
	if o.device != "" {
		o.filter.Device = o.number
		t, err := n.device(o.device, o.number)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, device.ErrNotBlock) {
			targets = append(targets, t)
		}
	}
	if o.filter.LV != "" {
		if t, found := n.lv(o.filter.LV); found {
			targets = append(targets, t)
		}
	}
	return targets, nil
}

// print writes the report in the format that was asked for. Who asks what is on
// a device wants all of it.
func (o *volumesOptions) print(c *cobra.Command, v show.Volumes) error {
	w := c.OutOrStdout()
	if o.output == formatJSON {
		return show.JSON(w, v)
	}
	if !o.all && !o.filter.Storage() {
		tasks := len(v.Tasks)
		if v = v.Visible(); len(v.Tasks) == 0 && tasks > 0 {
			hint(c.ErrOrStderr(), "only pause containers match; --all shows them")
		}
	}
	switch o.output {
	case formatTree:
		return show.VolumesTree(w, v)
	case formatMermaid:
		links, err := show.VolumesMermaid(w, v)
		if links > show.MaxLinks {
			hint(c.ErrOrStderr(), fmt.Sprintf("Mermaid draws %d links by default and this has %d: name a container, or raise maxEdges", show.MaxLinks, links))
		}
		return err
	default:
		return show.VolumesTable(w, v)
	}
}

// printLimits prints nothing but lines for io.max: of what is written to or,
// where no container does, of what was asked for. That something is in memory
// or on a server is told, and is no failure.
func (o *volumesOptions) printLimits(c *cobra.Command, n *node, s volumes.Survey, targets []show.Target) error {
	limits, without := s.Limits()
	for _, t := range targets {
		if len(limits) == 0 && len(without) == 0 && t.Storage != nil {
			var why string
			if limits, why = t.Storage.Limits(); len(limits) == 0 {
				without = append(without, volumes.Unknown{What: t.Target, Why: why})
			}
		}
	}
	for _, l := range limits {
		if _, err := fmt.Fprintln(c.OutOrStdout(), l); err != nil {
			return err
		}
	}
	missing := ofContainers(s.Unknown)
	for _, u := range without {
		why, unknown := strings.CutPrefix(u.Why, show.CannotTell)
		if unknown {
			missing = append(missing, volumes.Unknown{What: u.What, Why: why})
			continue
		}
		fmt.Fprintf(c.ErrOrStderr(), "mountward: no line for %s: %s\n", show.Line(u.What), show.Line(u.Why))
	}
	tellUnknown(c.ErrOrStderr(), missing)
	return o.result(n, len(limits), len(missing), "nothing that matches writes to a block device")
}

// result is the exit code for what was found, and for what could not be read.
func (o *volumesOptions) result(n *node, found, missing int, nothing string) error {
	switch {
	case missing > 0:
		return &exit{code: ExitCannotTell}
	case found == 0:
		return &exit{ExitNo, fmt.Errorf("%s: %s", nothing, o.searched(n))}
	default:
		return nil
	}
}

// searched says where it was looked for what does not match.
func (o *volumesOptions) searched(n *node) string {
	text := n.searched()
	switch {
	case !o.filter.Device.IsZero() && o.device != "":
		text = fmt.Sprintf("no device of this node is %s; %s", o.number, text)
	case o.filter.LV != "":
		text = fmt.Sprintf("no device of the device mapper is %s, so it is not active on this node; %s", show.Word(o.filter.LV), text)
	}
	return text
}
