package cli

import (
	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/settings"
)

// decidedBy reads the policy that is to decide. One that is not good decides nothing:
// explain does not fall back.
func (o *explainOptions) decidedBy(c *cobra.Command, s settings.Settings) (*policy.Policy, error) {
	if o.policy.file != "-" {
		return o.policy.loadInTime(c.Context(), s)
	}
	set, err := readPolicy(c.InOrStdin())
	if err != nil {
		return nil, &exit{ExitCannotTell, err}
	}
	p, err := set.Parse()
	if err != nil {
		return nil, &exit{ExitCannotTell, err}
	}
	return p, nil
}
