package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mountward/mountward/pkg/control"
	"github.com/mountward/mountward/pkg/discover"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/runtimeconf"
)

// declared is what was agreed on with the runtime when it configured us.
type declared struct {
	peer
	failRequest bool
}

// parts returns those of the parts of failing closed that the connection has or
// has not. What is in the runtime's configuration is for who can wait for it.
func (d *daemon) parts() []control.Part {
	p, l := d.connection.Load(), d.state.connection()
	if p == nil || !l.connected {
		why := facts.CannotTell("not connected")
		return []control.Part{
			{Name: control.PartDeadline, Answer: why},
			{Name: control.PartValidator, Answer: why},
			{Name: control.PartFailurePolicy, Answer: why},
		}
	}
	c := p.declared.Load()
	return []control.Part{
		{Name: control.PartDeadline, Answer: facts.Is(true, "late work is answered for after "+l.deadline().String())},
		{Name: control.PartValidator, Answer: c.validator()},
		{Name: control.PartFailurePolicy, Answer: c.failurePolicy(d.force.Load().enforces())},
	}
}

// closed answers whether no container is created unjudged: of the validator and
// the failure policy one is enough. A part that is not there is not known.
func closed(parts []control.Part) facts.Truth {
	in := map[string]facts.Truth{}
	for _, p := range parts {
		in[p.Name] = p.Truth
	}
	judged := in[control.PartValidator]
	if other := in[control.PartFailurePolicy]; judged != facts.Yes && (other == facts.Yes || other == facts.Unknown) {
		judged = other
	}
	all := []facts.Truth{judged, in[control.PartRequired], in[control.PartToleration]}
	switch {
	case slices.Contains(all, facts.No):
		return facts.No
	case slices.Contains(all, facts.Unknown):
		return facts.Unknown
	default:
		return facts.Yes
	}
}

// logFailClosed says where containers can start unjudged. That is a warning where
// a policy is enforced.
func (p *plugin) logFailClosed(ctx context.Context) {
	c := p.declared.Load()
	if c == nil {
		return // not configured yet
	}
	parts, without := append(p.daemon.parts(), p.required(ctx, c)...), ""
	for _, part := range parts {
		if part.Truth != facts.Yes {
			without += fmt.Sprintf("; %s: %s (%s)", part.Name, part.Truth, part.Why)
		}
	}
	answer, log := closed(parts), p.daemon.log()
	said := map[facts.Truth]string{
		facts.Yes:     "NRI fails closed here",
		facts.No:      "NRI does not fail closed here",
		facts.Unknown: "whether NRI fails closed here cannot be told",
	}[answer]
	switch {
	case answer == facts.Yes:
		log.Info(said + without)
	case p.daemon.force.Load().enforces():
		log.Warn(said + without)
	default:
		log.Info(said + ", and the policy only watches" + without)
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
func (p *plugin) required(ctx context.Context, c *declared) []control.Part {
	both := func(a facts.Answer) []control.Part {
		return []control.Part{{Name: control.PartRequired, Answer: a}, {Name: control.PartToleration, Answer: a}}
	}
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
	return []control.Part{{Name: control.PartRequired, Answer: config.Required(name)}, {Name: control.PartToleration, Answer: config.Untolerated()}}
}
