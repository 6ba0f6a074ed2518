package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
)

// explainOptions say what is to be explained other than a code.
type explainOptions struct {
	node      nodeOptions
	files     []string
	container string
	mounts    []string
	policy    policyOptions
	namespace string
	static    bool
	noHost    bool
	all       bool
	output    string
}

func (o *explainOptions) flags(c *cobra.Command) {
	o.node.flags(c)
	c.Flags().StringArrayVarP(&o.files, "filename", "f", nil, "the pods of a manifest, an OCI config.json, or what crictl inspect prints: `file`, or - for standard input; can be repeated")
	c.Flags().StringVar(&o.container, "container", "", "a container of this node, by its `id` or the beginning of it, or by the name of container or pod")
	c.Flags().StringArrayVar(&o.mounts, "mount", nil, "only the mount at this `path` in the container; can be repeated")
	o.policy.policyFlag(c)
	o.policy.dropInFlag(c, "the policy")
	c.Flags().StringVarP(&o.namespace, "namespace", "n", "", "`namespace` of pods whose manifest has none (default \"default\")")
	c.Flags().BoolVar(&o.static, "static-pod", false, "the file is of a static pod, which is never refused")
	c.Flags().BoolVar(&o.noHost, "no-host", false, "do not look at this host: it is not the node the pod is for")
	c.Flags().BoolVar(&o.all, "all", false, "also the mounts of runtime and kubelet about which nothing is done")
	outputFlag(c, &o.output, formatTable, formatJSON)
}

// minID is how much of an id an argument must be that stands for a container.
const minID = 4

// isID reports whether an argument looks like the id of a container: no code does.
func isID(text string) bool {
	return len(text) >= minID && strings.Trim(text, "0123456789abcdef") == ""
}

// asked reports whether containers are to be explained, and no code.
func (o *explainOptions) asked(c *cobra.Command, args []string) (bool, error) {
	if len(args) == 1 && isID(args[0]) && o.container == "" && len(o.files) == 0 {
		o.container, args = args[0], nil
	}
	if err := notEmpty(c, nil, "filename", "container", "mount", "policy", "drop-in", "namespace", "config", "state"); err != nil {
		return true, &exit{ExitUsage, err}
	}
	if len(o.files) == 0 && o.container == "" {
		for _, name := range []string{"mount", "policy", "drop-in", "namespace", "static-pod", "no-host", "all", "output"} {
			if c.Flags().Changed(name) {
				return true, &exit{ExitUsage, fmt.Errorf("--%s goes with --container or -f", name)}
			}
		}
		return false, nil
	}
	return true, o.check(c, args)
}

func (o *explainOptions) check(c *cobra.Command, args []string) error {
	var err error
	switch {
	case len(args) > 0:
		err = fmt.Errorf("explain %s, or a container: not both", show.Word(args[0]))
	case len(o.files) > 0 && o.container != "":
		err = errors.New("explain takes --container or -f, not both")
	case o.container != "" && o.noHost:
		err = errors.New("--no-host goes with -f: a container of this node is on this host")
	case o.container != "" && (o.static || o.namespace != ""):
		err = errors.New("--static-pod and --namespace go with -f")
	case o.noHost && c.Flags().Changed("state"):
		err = errors.New("--state is about this host, which --no-host does not look at")
	}
	input := o.files
	if o.policy.file == "-" {
		input = append(input[:len(input):len(input)], o.policy.file)
		if len(o.policy.dropIns) > 0 {
			err = errors.New("--drop-in adds rules to a policy file, and standard input is none: name it")
		}
	}
	if first := slices.Index(input, "-"); first >= 0 && slices.Contains(input[first+1:], "-") {
		err = errors.New("- is standard input, which can be read once")
	}
	for _, mount := range o.mounts {
		if !strings.HasPrefix(mount, "/") {
			err = fmt.Errorf("--mount %s: want an absolute path in the container", show.Word(mount))
		}
	}
	if err != nil {
		return &exit{ExitUsage, err}
	}
	return checkFormat(o.output, formatTable, formatJSON)
}
