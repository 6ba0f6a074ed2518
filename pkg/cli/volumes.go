package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
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
2 something could not be read, or a container that was named has ended, 64 usage.`,
		Example: `  mountward volumes web-0 -o tree
  mountward volumes --lv vg0/pvc-1
  mountward volumes --path /data -o json
  mountward volumes web-0 --limits io.max`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.filter.Name = args[0]
			}
			if err := notEmpty(c, args, "config", "state", "pod", "namespace", "lv", "device", "path", "limits"); err != nil {
				return &exit{ExitUsage, err}
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
		if o.number.IsZero() {
			return fmt.Errorf("--device %s: no device has this number", o.number)
		}
	}
	if vg, lv, ok := strings.Cut(o.filter.LV, "/"); o.filter.LV != "" && (!ok || vg == "" || lv == "" || strings.Contains(lv, "/")) {
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

func (o *volumesOptions) run(c *cobra.Command, m machine) error {
	l, err := look(c, o.node, m, o.find)
	if err != nil {
		return err
	}
	f := l.found
	defer f.node.close()
	if o.limits != "" {
		return o.printLimits(c, f)
	}
	survey := f.survey.Select(o.filter)
	v := show.Volumes{Schema: show.VolumesSchema, Node: f.node.shown(), Targets: f.targets, Marks: survey.Marks, Unknown: slices.Concat(survey.Unknown, o.ended(f.survey))}
	for _, member := range survey.Members {
		v.Tasks = append(v.Tasks, show.TaskOf(member))
	}
	matches := len(v.Tasks) + len(v.Marks)
	if !o.filter.Named() {
		matches += len(v.Targets)
	}
	if matches > 0 || o.output == formatJSON {
		if err := o.print(c, v); err != nil {
			return err
		}
	}
	missing := slices.Concat(ofContainers(v.Unknown), v.Missing())
	tellUnknown(c.ErrOrStderr(), missing)
	return f.result(matches, len(missing), "nothing matches")
}

// ended are the containers that were named of which nothing is known since they
// have ended. In a list of many it is no surprise that one has.
func (o *volumesOptions) ended(s volumes.Survey) []volumes.Unknown {
	if !o.filter.Task() {
		return nil
	}
	return show.Ended(s.Select(volumes.Filter{Name: o.filter.Name, Pod: o.filter.Pod, Namespace: o.filter.Namespace}))
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
