package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/internal/strict"
	"github.com/mountward/mountward/pkg/lint"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/policyfile"
	"github.com/mountward/mountward/pkg/settings"
)

type checkOptions struct {
	policyOptions
	strict     bool
	containerd string
	output     string
	lint       lint.Options
}

// complete checks the flags.
func (o *checkOptions) complete() error {
	if err := checkFormat(o.output, formatTable, formatJSON); err != nil {
		return err
	}
	if o.containerd == "" {
		return nil
	}
	nri, err := lint.OfContainerd(o.containerd)
	if err != nil {
		return &exit{ExitUsage, fmt.Errorf("--containerd %s: %w", show.Word(o.containerd), err)}
	}
	o.lint.NRI = nri
	return nil
}

// checked prints what came of loading a policy: mistakes in its text as they
// are, or what lint finds. That it cannot be read at all is the error of the
// verb.
func (o *checkOptions) checked(c *cobra.Command, p *policy.Policy, set policyfile.Set, err error) error {
	var mistakes strict.Errors
	if err != nil && !errors.As(err, &mistakes) {
		if o.output == formatJSON {
			told := strict.Errors{{Position: strict.Position{File: set.Main.Name}, Message: err.Error()}}
			if err := show.JSON(c.OutOrStdout(), show.NewChecked(set.Main.Name, nil, told, nil)); err != nil {
				return err
			}
		}
		return err
	}
	var findings []lint.Finding
	if err == nil {
		if set.Origin == policyfile.OriginFile {
			o.lint.Skipped = policyfile.Skipped(set.Main.Name)
		}
		findings = lint.Check(p, o.lint)
	}
	if o.output == formatJSON {
		if err := show.JSON(c.OutOrStdout(), show.NewChecked(set.Main.Name, p, mistakes, findings)); err != nil {
			return err
		}
	} else {
		tellChecked(c, p, set, mistakes, findings)
	}
	switch {
	case err != nil:
		return &exit{code: ExitNo}
	case len(findings) > 0 && o.strict:
		return &exit{ExitNo, fmt.Errorf("%s: %s with --strict", show.Word(p.Name), show.Findings(len(findings)))}
	default:
		return nil
	}
}

// tellChecked prints the same for people: the verdict on standard output, and
// what is wrong as "file:line:col: message" on standard error.
func tellChecked(c *cobra.Command, p *policy.Policy, set policyfile.Set, mistakes strict.Errors, findings []lint.Finding) {
	if p == nil {
		fmt.Fprintln(c.ErrOrStderr(), mistakes)
		if settings.Mistaken(set.Main.Data) {
			hint(c.ErrOrStderr(), "this looks like settings, not like a policy; to check settings and the policy they name: mountward check --config "+settingsName(set.Main.Name))
		}
		return
	}
	for _, f := range findings {
		fmt.Fprintln(c.ErrOrStderr(), show.Line(f.String()))
	}
	if len(findings) > 0 {
		code := findings[0].Code
		hint(c.ErrOrStderr(), fmt.Sprintf("the policy would be loaded; what is meant all the same is silenced by lint_ignore = [%q], see: mountward explain %s", code, code))
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: policy is good: mode %s, default %s, %s, sha256 %.12s\n", show.Line(p.Name), p.Mode, p.Default, show.Rules(len(p.Rules), 1+len(p.DropIns)), p.SHA256)
}
