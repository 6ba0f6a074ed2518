package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/strict"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/settings"
	"github.com/mountward/mountward/pkg/vap"
)

func exportCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "export",
		Short: "write a policy for something else that can judge by it",
		Args:  usageArgs(cobra.NoArgs),
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(exportVAPCommand())
	return c
}

// formatYAML is the format of what kubectl reads.
const formatYAML = "yaml"

func exportVAPCommand() *cobra.Command {
	var path, output string
	var from policyOptions
	var o vap.Options
	c := &cobra.Command{
		Use:   "vap",
		Short: "write what a manifest can be judged by as a Kubernetes ValidatingAdmissionPolicy",
		Long: `Vap writes a ValidatingAdmissionPolicy and its binding, so that the owner of a
pod meets a refusal when the manifest is applied and not when the container
starts. Pods are judged, and the templates of deployments, daemon sets, stateful
sets, replica sets, jobs and cron jobs. It needs Kubernetes 1.30 or later. A
policy in the mode "audit" warns, one in the mode "enforce" refuses.

The node decides all the same, by the whole policy. What is written here refuses
nothing that the node would let through: a rule that asks for what no manifest
shows (a hazard, an image as the runtime names it) is left out where it denies,
and taken to hold where it allows or sets. Standard error says which, and so
does the top of the file. A hostPath is judged as it is written: one that
reaches an allowed directory through a symbolic link is refused here.

Exit code: 0, 1 the policy cannot be read or refuses nothing that a manifest
shows, 64 usage.`,
		Example: "  mountward export vap | kubectl apply -f -",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkFormat(output, formatYAML, formatJSON); err != nil {
				return err
			}
			if err := notEmpty(c, nil, "policy", "drop-in"); err != nil {
				return &exit{ExitUsage, err}
			}
			if !vap.ValidName(o.Name) {
				return &exit{ExitUsage, fmt.Errorf("--name %s: want a name as Kubernetes has them, such as \"mountward\" or \"mount.policy-2\"", show.Word(o.Name))}
			}
			p, s, err := policyToExport(c, settings.Source{Path: path, Explicit: c.Flags().Changed("config")}, from)
			if err != nil {
				return err
			}
			if err := variables(&o.Vars, s.Host); err != nil {
				return err
			}
			return exportVAP(c, p, o, output)
		},
	}
	configFlag(c, &path)
	outputFlag(c, &output, formatYAML, formatJSON)
	from.policyFlag(c)
	from.dropInFlag(c, "the policy")
	c.Flags().StringVar(&o.Name, "name", "mountward", "`name` of both objects")
	c.Flags().StringVar(&o.Vars.KubeletRoot, "kubelet-root", "", "`path` for ${kubelet_root} (default: from the settings, else /var/lib/kubelet)")
	c.Flags().StringVar(&o.Vars.RuntimeState, "runtime-state", "", "`path` for ${runtime_state} (default: from the settings, else /run/containerd)")
	c.Flags().StringVar(&o.Vars.RuntimeRoot, "runtime-root", "", "`path` for ${runtime_root} (default: from the settings, else /var/lib/containerd)")
	return c
}

// policyToExport reads the policy that is named, else the one that the daemon
// would load.
func policyToExport(c *cobra.Command, source settings.Source, from policyOptions) (*policy.Policy, settings.Settings, error) {
	s, _, err := source.Load()
	if err != nil {
		return nil, s, err
	}
	p, _, err := from.load(s)
	var mistakes strict.Errors
	if errors.As(err, &mistakes) {
		fmt.Fprintln(c.ErrOrStderr(), err)
		return nil, s, &exit{code: ExitNo}
	}
	return p, s, err
}

// variables fills in what no flag says: all nodes of a cluster are meant, so
// what this one has is not looked for.
func variables(v *policy.Vars, host settings.Host) error {
	for _, one := range []struct {
		flag, setting, usual string
		value                *string
	}{
		{"kubelet-root", host.KubeletRoot, "/var/lib/kubelet", &v.KubeletRoot},
		{"runtime-state", host.RuntimeState, "/run/containerd", &v.RuntimeState},
		{"runtime-root", host.RuntimeRoot, "/var/lib/containerd", &v.RuntimeRoot},
	} {
		if *one.value == "" {
			*one.value = one.usual
			if one.setting != "" && one.setting != settings.Auto {
				*one.value = one.setting
			}
		}
		clean, ok := facts.CleanAbs(*one.value)
		if !ok {
			return &exit{ExitUsage, fmt.Errorf("--%s %s: want an absolute path", one.flag, show.Word(*one.value))}
		}
		*one.value = clean
	}
	return nil
}

func exportVAP(c *cobra.Command, p *policy.Policy, o vap.Options, output string) error {
	e, err := vap.Export(p, o)
	for _, line := range e.Told() {
		fmt.Fprintf(c.ErrOrStderr(), "mountward: %s\n", line)
	}
	if err != nil {
		return fmt.Errorf("export %s: %w", show.Line(p.Name), err)
	}
	if output == formatJSON {
		return writeJSON(c.OutOrStdout(), e)
	}
	_, err = c.OutOrStdout().Write(e.YAML())
	return err
}

// writeJSON writes a list that kubectl reads.
func writeJSON(w io.Writer, e *vap.Exported) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": []any{e.Policy, e.Binding}})
}
