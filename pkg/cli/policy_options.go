package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/config"
	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/internal/file"
	"github.com/mountward/mountward/pkg/internal/wait"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/policyfile"
	"github.com/mountward/mountward/pkg/settings"
)

// policyOptions say which policy a verb reads: a file that is named, else the one
// that the settings name, with the drop-ins beside it and those of --drop-in.
type policyOptions struct {
	file    string // "": the configured one
	dropIns []string
}

// policyFlag is for the verbs whose arguments are about something else.
func (o *policyOptions) policyFlag(c *cobra.Command) {
	c.Flags().StringVar(&o.file, "policy", "", "decide by this policy `file` (default: the one that the settings name)")
	_ = c.MarkFlagFilename("policy", "toml") // fails only for a flag that is not there
}

// dropInFlag is for every verb that reads a policy; which tells the one where there
// are several.
func (o *policyOptions) dropInFlag(c *cobra.Command, which string) {
	c.Flags().StringArrayVar(&o.dropIns, "drop-in", nil, "read "+which+" as with this `file` in its policy.d; can be repeated")
	_ = c.MarkFlagFilename("drop-in", "toml") // fails only for a flag that is not there
}

// load reads the policy as the daemon would. With more drop-ins the main file must
// be there, since they add rules to one.
func (o *policyOptions) load(s settings.Settings) (*policy.Policy, policyfile.Set, error) {
	switch {
	case o.file != "":
		return policyfile.LoadWith(o.file, o.dropIns)
	case len(o.dropIns) == 0:
		return policyfile.Load(s, config.Policy())
	}
	p, set, err := policyfile.LoadWith(s.Policy, o.dropIns)
	if errors.Is(err, fs.ErrNotExist) && file.Absent(s.Policy) {
		err = fmt.Errorf("%w; --drop-in adds rules to a policy file: write this one, or name another", err)
	}
	return p, set, err
}

// loadInTime is load for the verbs that must end on the sickest node.
func (o *policyOptions) loadInTime(ctx context.Context, s settings.Settings) (*policy.Policy, error) {
	p, err := wait.For(ctx, settingsWait, func() (*policy.Policy, error) {
		p, _, err := o.load(s)
		return p, err
	}, nil)
	if errors.Is(err, wait.ErrNoAnswer) {
		name := o.file
		if name == "" {
			name = s.Policy
		}
		err = fmt.Errorf("policy %s: %w", show.Word(name), err)
	}
	if err != nil {
		return nil, &exit{ExitCannotTell, err}
	}
	return p, nil
}
