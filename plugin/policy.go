package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mountward/mountward/config"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/policyfile"
	"github.com/mountward/mountward/pkg/settings"
)

// inForce is the policy that decides now.
type inForce struct {
	policy *policy.Policy
	origin policyfile.Origin
	// refuse is set where there is no policy to go by and the settings say
	// that then nothing may be created.
	refuse error
}

// loaded is the result of one attempt to load a policy.
type loaded struct {
	inForce
	// rejected is why what was configured is not in force; nil when it is.
	rejected error
	// warning is why no copy of it could be kept.
	warning error
	// tried is the fingerprint of the files it was loaded from.
	tried string
}

// fingerprint tells apart what there is to load: the checksum of the files, else
// why they cannot be read.
func fingerprint(files policyfile.Set, err error) string {
	if files.Origin == "" {
		return err.Error()
	}
	return string(files.Origin) + " " + files.SHA256()
}

// load reads the configured policy. Where that fails it falls back: to the
// last good policy, else to the built-in one in audit mode, else (settings
// guard.on_policy_error = "deny") to none. A mistake in the settings counts as
// one in the policy. builtin is as of policyfile.Configured, keep says that a copy
// of a good policy is to be saved.
func load(s settings.Settings, settingsErr error, builtin []byte, keep bool) (result loaded) {
	p, files, err := policyfile.Load(s, builtin)
	tried := fingerprint(files, err)
	defer func() { result.tried = tried }()
	if settingsErr != nil {
		err = errors.Join(settingsErr, err)
	}
	if err == nil {
		result = loaded{inForce: inForce{policy: p, origin: files.Origin}}
		if keep {
			result.warning = policyfile.SaveLastGood(s, files)
		}
		return result
	}
	last, ok, lastErr := lastGood(s)
	if ok {
		return loaded{inForce: inForce{policy: last, origin: policyfile.OriginLastGood}, rejected: err}
	}
	fallback, parseErr := policy.Parse(policy.File{Name: policyfile.BuiltInName, Data: config.Policy()})
	if parseErr != nil {
		// The embedded policy is tested; a build without that test must still
		// not take the node down.
		fallback = &policy.Policy{Version: 1, Mode: policy.ModeAudit, Default: "allow", Name: policyfile.BuiltInName}
	}
	fallback.Mode = policy.ModeAudit
	result = loaded{inForce: inForce{policy: fallback, origin: policyfile.OriginBuiltIn}, rejected: err, warning: lastErr}
	if s.Guard.OnPolicyError == settings.PolicyErrorDeny {
		result.refuse = noPolicy(err)
	}
	return result
}

func lastGood(s settings.Settings) (*policy.Policy, bool, error) {
	files, ok, err := policyfile.LastGood(s)
	if err != nil || !ok {
		return nil, false, err
	}
	p, err := files.Parse()
	return p, err == nil, err
}

// noPolicy is the refusal of every container, in one line: the owner of a pod
// reads it in an event. The record has all mistakes.
func noPolicy(why error) error {
	first, rest, _ := strings.Cut(why.Error(), "\n")
	if rest != "" {
		first += fmt.Sprintf(" (and %d more: see the record policy-rejected)", strings.Count(rest, "\n")+1)
	}
	return fmt.Errorf("mountward: no container is created without a policy (on_policy_error = \"deny\"): %s", first)
}
