package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/mountward/mountward/config"
	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/internal/wait"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/policyfile"
	"github.com/mountward/mountward/pkg/settings"
)

// decidedBy reads the policy that is to decide: the named one, else the configured
// one, as the daemon would. A policy that is not good decides nothing: explain
// does not fall back.
func (o *explainOptions) decidedBy(ctx context.Context, s settings.Settings) (*policy.Policy, error) {
	p, err := wait.For(ctx, settingsWait, func() (*policy.Policy, error) {
		if o.policy != "" {
			p, _, err := policyfile.LoadFile(o.policy)
			return p, err
		}
		p, _, err := policyfile.Load(s, config.Policy())
		return p, err
	}, nil)
	if errors.Is(err, wait.ErrNoAnswer) {
		err = fmt.Errorf("policy %s: %w", show.Word(o.policy), err)
	}
	if err != nil {
		return nil, &exit{ExitCannotTell, err}
	}
	return p, nil
}
