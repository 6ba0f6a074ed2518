package main

import (
	"context"
	"fmt"
	"time"

	"github.com/mountward/mountward/pkg/discover"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/runtimeconf"
)

// part is one of the parts that together keep NRI from failing open, and whether
// it is in force on a connection.
type part struct {
	name string
	facts.Answer
}

// The names of the parts.
const (
	partDeadline      = "own deadline"
	partValidator     = "validator"
	partFailurePolicy = "FailurePolicy"
	partRequired      = "required_plugins"
	partToleration    = "no toleration annotation"
)

// declared is what was agreed on with the runtime when it configured us.
type declared struct {
	peer
	failRequest bool
}

// failClosed says which parts are in force now. It reads containerd's
// configuration, so it is not for a handler.
func (p *plugin) failClosed(ctx context.Context) []part {
	c := p.declared.Load()
	if c == nil {
		return nil // not configured yet
	}
	parts := []part{
		{partDeadline, facts.Is(true, "late work is answered for after "+share(deadlineShare, p.limit()).String())},
		{partValidator, c.validator()},
		{partFailurePolicy, c.failurePolicy(p.daemon.force.Load().enforces())},
	}
	return append(parts, p.required(ctx, c)...)
}

// closed reports whether no container is created unjudged: of the validator and
// the failure policy one is enough.
func closed(parts []part) bool {
	in := map[string]bool{}
	for _, p := range parts {
		in[p.name] = p.Truth == facts.Yes
	}
	return (in[partValidator] || in[partFailurePolicy]) && in[partRequired] && in[partToleration]
}

// logFailClosed says where containers can start unjudged. That is a warning where
// a policy is enforced.
func (p *plugin) logFailClosed(ctx context.Context) {
	parts, without := p.failClosed(ctx), ""
	for _, part := range parts {
		if part.Truth != facts.Yes {
			without += fmt.Sprintf("; %s: %s (%s)", part.name, part.Truth, part.Why)
		}
	}
	log := p.daemon.log()
	switch {
	case closed(parts):
		log.Info("NRI fails closed here" + without)
	case p.daemon.force.Load().enforces():
		log.Warn("NRI does not fail closed here" + without)
	default:
		log.Info("NRI does not fail closed here, and the policy only watches" + without)
	}
}

// validator: a plugin that ends within a creation fails it as a validator, for
// that is asked in the same request.
func (c *declared) validator() facts.Answer {
	switch {
	case !c.validates() && c.nriKnown():
		return facts.Is(false, "NRI "+c.nri+" has none (0.10 is the first): a creation in which mountward ends goes on unchanged")
	case !c.validates():
		return facts.Is(false, fmt.Sprintf("the NRI of %s %s is not known: a creation in which mountward ends goes on unchanged", c.name, c.version))
	case c.hasFailurePolicy():
		return facts.Is(false, "NRI "+c.nri+" skips one that has ended: FailurePolicy is in its place")
	default:
		return facts.Is(true, "a creation in which mountward ends is rejected, in audit mode too")
	}
}

func (c *declared) hasFailurePolicy() bool { return c.nriKnown() && atLeast(c.nri, 0, 12, 4) }

// failurePolicy: a plugin that ends within any request fails it.
func (c *declared) failurePolicy(enforces bool) facts.Answer {
	switch {
	case !c.nriKnown():
		return facts.CannotTell("the NRI of " + c.name + " " + c.version + " is not known")
	case !c.hasFailurePolicy():
		return facts.Is(false, "NRI "+c.nri+" ignores it (0.12.4 is the first that does not): a start in which mountward ends goes on unproved, with the mounts that were decided")
	case c.failRequest:
		return facts.Is(true, "a request in which mountward ends or hangs fails")
	case enforces:
		return facts.Is(false, "it was declared in audit mode, and holds from the next connection on: restart mountward (if containerd launched it: containerd) when the node is calm")
	default:
		return facts.Is(false, "nothing is declared in audit mode")
	}
}

// maxCommandLineTime bounds how long the runtime's command line is waited for.
const maxCommandLineTime = time.Second

// required: while the plugin is away, containers are not created, whatever their
// annotations.
func (p *plugin) required(ctx context.Context, c *declared) []part {
	both := func(a facts.Answer) []part { return []part{{partRequired, a}, {partToleration, a}} }
	if c.name != "containerd" {
		return both(facts.CannotTell("the configuration of " + c.name + " is not read"))
	}
	args, err := discover.CommandLine(ctx, "/proc", p.runtime, maxCommandLineTime)
	if err == nil && len(args) == 0 {
		err = fmt.Errorf("process %d has no command line", p.runtime)
	}
	if err != nil {
		return both(facts.CannotTell("containerd's command line cannot be read: " + err.Error()))
	}
	config := runtimeconf.Load(ctx, p.host.view, discover.ConfigOf(args), runtimeconf.ParseRelease(c.version))
	return []part{{partRequired, config.Required(name)}, {partToleration, config.Untolerated()}}
}
