package cli

import (
	"github.com/spf13/cobra"
)

func explainCommand(m machine) *cobra.Command {
	var o explainOptions
	c := &cobra.Command{
		Use:   "explain [MWnnn|ID]",
		Short: "tell why a container's mounts are decided as they are, or what a code is",
		Long: `Explain decides about the mounts of a container as the daemon would, and prints
for each the decision, every rule that was tried with the first selector that
failed, its hazards, what the specification will have, and whether that can come
true on this host. The container is one of this node (--container, or an ID of
hexadecimal digits), or of a file (-f): Kubernetes manifests in YAML or JSON,
several documents and lists too, an OCI config.json, or what crictl inspect
prints. "--policy -" reads the policy from standard input. What a file cannot show is said. Nothing is changed, and no daemon need
run.

With a code it prints its page. Hazards (MW1nn), as records and refusals name
them: what it is, why it is dangerous, how to see it on a node, how to cure it,
and how the policy ignores or denies it. Lint (MW2nn), as "mountward check" names
them: what the policy says, why it is perhaps not meant, and how to fix it, with a
policy before and after. Without anything it lists all codes.

Exit code: 0, 64 usage or no such code. For containers: 0 all mounts are allowed
or set, or the pod is a static one, which is never refused; 1 one is denied, in audit
mode too; 2 cannot tell, or a file cannot be read; 64 usage. Of several files and
containers it is the worst: 1 before 2 before 0.`,
		Example: `  mountward explain MW101
  mountward explain MW208
  mountward explain --container 3f9c2a --mount /var/lib/kubelet
  mountward explain -f pod.yaml --policy new.toml --no-host
  mountward explain -f pod.yaml --drop-in new.toml
  kubectl get pod web-0 -o yaml | mountward explain -f -`,
		Args: usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if containers, err := o.asked(c, args); err != nil || containers {
				if err != nil {
					return err
				}
				return o.run(c, m)
			}
			if len(args) == 0 {
				return listCodes(c.OutOrStdout())
			}
			return explainCode(c.OutOrStdout(), args[0])
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return completeCodes(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	o.flags(c)
	return c
}
