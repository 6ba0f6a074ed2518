package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/doctor"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/settings"
)

type doctorOptions struct {
	node     nodeOptions
	pod      string
	baseline string
	oneLine  bool
	output   string
}

// formatNFD is a feature file of node-feature-discovery.
const formatNFD = "nfd"

func doctorCommand(m machine) *cobra.Command {
	var o doctorOptions
	c := &cobra.Command{
		Use:   "doctor",
		Short: "say whether the mount propagation of this node is sound, and if not why and what mends it",
		Long: `Doctor looks at the mount tables of process 1, the kubelet and containerd, at
containers, units and the configuration of containerd, and prints each problem
with its evidence, its cause, what it breaks and what mends it for good. Nothing
is changed and nothing is run; neither the daemon nor a policy is needed.
Without root it says what it could not see.

--baseline FILE takes an earlier output of -o json and reports only what got
worse since. --oneline prints the worst problem in 80 bytes, for
node-problem-detector. -o nfd prints a feature file with labels, for
node-feature-discovery 0.14 or later; it holds for a day:

  d=/etc/kubernetes/node-feature-discovery/features.d
  mountward doctor -o nfd > $d/.mountward; mv $d/.mountward $d/mountward

Exit code: 0 sound, 1 a problem (with --baseline: a new one), 2 no problem was
seen but something could not be read, 64 usage.`,
		Example: `  mountward doctor
  mountward doctor --pod csi-node-x
  mountward doctor -o json > before.json; mountward doctor --baseline before.json`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, args []string) error {
			if err := notEmpty(c, args, "config", "state", "pod", "baseline"); err != nil {
				return &exit{ExitUsage, err}
			}
			if err := o.check(c); err != nil {
				return &exit{ExitUsage, err}
			}
			return o.run(c, m)
		},
	}
	o.node.flags(c)
	c.Flags().StringVar(&o.pod, "pod", "", "compare the mounts of this `pod` with the kubelet's instead")
	c.Flags().StringVar(&o.baseline, "baseline", "", "report only what is worse than in this `file` of doctor -o json")
	c.Flags().BoolVar(&o.oneLine, "oneline", false, "print one line of at most 80 bytes")
	outputFlag(c, &o.output, formatTable, formatJSON, formatNFD)
	return c
}

// check refuses flags that do not go together.
func (o *doctorOptions) check(c *cobra.Command) error {
	switch {
	case o.oneLine && c.Flags().Changed("output"):
		return errors.New("--oneline is a format of its own: not together with -o")
	case o.pod != "" && o.baseline != "":
		return errors.New("--pod and --baseline: a baseline is of the whole node")
	case o.output == formatNFD && (o.pod != "" || o.baseline != ""):
		return errors.New("-o nfd is of the whole node: not together with --pod or --baseline")
	}
	return checkFormat(o.output, formatTable, formatJSON, formatNFD)
}

func (o *doctorOptions) run(c *cobra.Command, m machine) error {
	s, err := o.node.load(c)
	if err != nil {
		return o.failed(c, err)
	}
	d, err := bounded(c.Context(), m.most, func(ctx context.Context, at step) (doctor.Document, error) {
		return o.examine(ctx, m, s, at)
	})
	if err != nil {
		return o.failed(c, err)
	}
	if err := o.print(c, d); err != nil {
		return err
	}
	tellUnknown(c.ErrOrStderr(), show.DoctorMissing(d))
	switch d.Answer() {
	case facts.Yes:
		return nil
	case facts.No:
		return &exit{code: ExitNo}
	default:
		return &exit{code: ExitCannotTell}
	}
}

// failed says on the one line, if that was asked for, that there is no answer: who
// keeps it does not see what is told beside it.
func (o *doctorOptions) failed(c *cobra.Command, err error) error {
	if o.oneLine {
		fmt.Fprintln(c.OutOrStdout(), doctor.Document{Unknown: []namespaces.Unknown{{What: "doctor", Why: err.Error()}}}.OneLine())
	}
	return err
}

// examine finds out what there is to print.
func (o *doctorOptions) examine(ctx context.Context, m machine, s settings.Settings, at step) (doctor.Document, error) {
	var before doctor.Baseline
	if o.baseline != "" {
		at("the baseline")
		var err error
		if before, err = readBaseline(o.baseline); err != nil {
			return doctor.Document{}, err
		}
	}
	at("the node")
	snapshot, err := doctor.Gather(ctx, doctor.Machine{
		User: os.Geteuid(),
		Proc: m.proc, Sys: m.sys, Host: s.Host, States: o.node.states, Open: m.files, Now: time.Now(),
	})
	if err != nil {
		return doctor.Document{}, &exit{ExitCannotTell, err}
	}
	defer func() { _ = snapshot.Close() }() // nothing was written
	at("the checks")
	d, err := o.report(ctx, snapshot)
	if err != nil {
		return doctor.Document{}, &exit{ExitCannotTell, err}
	}
	d.Kernel = m.kernel()
	if o.baseline != "" {
		return d.Since(o.baseline, before), nil
	}
	return d, nil
}

// report is of the whole node, or of one pod. What could not be read elsewhere
// says nothing about that.
func (o *doctorOptions) report(ctx context.Context, s *doctor.Snapshot) (doctor.Document, error) {
	if o.pod == "" {
		return doctor.Run(ctx, s, doctor.Checks()).Document(s), nil
	}
	var err error
	d := doctor.Run(ctx, s, []doctor.Check{{Name: doctor.PodCheck, Run: func(s *doctor.Snapshot) (all []doctor.Finding) {
		all, err = doctor.ComparePod(s, o.pod)
		return all
	}}}).Document(s)
	d.Pod, d.Unknown = o.pod, nil
	return d, err
}

// files opens the files of the mount namespace that a process is in.
func (m machine) files(pid int) (doctor.Files, io.Closer, error) {
	view, err := hostview.Open(hostview.Options{Proc: m.proc, PID: pid, Wait: fileWait})
	if err != nil {
		return nil, nil, err
	}
	return view, view, nil
}

// kernel is the release of the kernel, "" where it cannot be read.
func (m machine) kernel() string {
	release, err := os.ReadFile(filepath.Join(m.proc, "sys", "kernel", "osrelease"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(release))
}

func (o *doctorOptions) print(c *cobra.Command, d doctor.Document) error {
	w := c.OutOrStdout()
	switch {
	case o.oneLine:
		_, err := fmt.Fprintln(w, d.OneLine())
		return err
	case o.output == formatJSON:
		return show.JSON(w, d)
	case o.output == formatNFD:
		return show.DoctorFeatures(w, d)
	default:
		return show.DoctorTable(w, d)
	}
}
