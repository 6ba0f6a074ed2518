package main

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/ledger"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/verify"
)

// examination is what was found out about one container that has a process.
type examination struct {
	container facts.Container // as the runtime tells it now
	entry     ledger.Entry    // what was asked and decided
	pid       int
	process   *hostview.Process
	identity  facts.Answer // is the process the container's?
	bundle    hostview.Bundle
	table     *hostview.Table
	located   verify.Located // the asked mounts in the table
	answers   verify.Answers // about the sources
	lookup    verify.Lookup  // of the host, while the handler runs
	proofs    []verify.Proof
	findings  []facts.Finding
	inside    apply.NamespaceResult // of what was done in its mount namespace
	host      *host
}

// examine holds the process, proves that it is the container's and compares
// its mounts with what was decided. What could not be done is a finding.
func (p *plugin) examine(ctx context.Context, container facts.Container, pid int, entry ledger.Entry) *examination {
	x := &examination{container: container, entry: entry, pid: pid, host: p.host}
	x.identity = x.identify(ctx)
	if !x.proven() {
		x.found("cannot-tell", "the process was not proved to be the container's: "+x.identity.Why)
		return x
	}
	x.compare(ctx)
	x.changed()
	return x
}

// changed tells of mounts that are not what was decided about.
func (x *examination) changed() {
	for i, p := range x.located.Places {
		if !p.Moved {
			continue
		}
		m := x.entry.Outcomes[i].Mount
		was := m.Host.Identity()
		x.found("source-changed", fmt.Sprintf("%s: %s led to %s %s at creation and %s %s is mounted",
			m.Destination, m.Source, was.Device, was.Root, p.Entry.Device, p.Entry.Root))
	}
}

func (x *examination) identify(ctx context.Context) facts.Answer {
	var err error
	if x.process, err = x.host.view.OpenProcess(x.pid); err != nil {
		return facts.CannotTell(err.Error())
	}
	state := x.host.vars().RuntimeState
	if x.bundle, err = x.host.view.FindBundle(ctx, x.container.ID, x.pid, state); err != nil {
		return facts.CannotTell(err.Error())
	}
	answer, table := x.process.ProveTable(ctx, x.bundle.Rootfs())
	if answer.Truth == facts.Yes {
		x.table = table
		x.host.learnState(stateOf(x.bundle.Dir))
	}
	return answer
}

// stateOf returns the runtime's state directory from a bundle in it:
// STATE/io.containerd.runtime.v2.task/k8s.io/ID.
func stateOf(bundle string) string {
	return path.Dir(path.Dir(path.Dir(strings.TrimSuffix(bundle, "/"))))
}

// compare takes, after the container's table, the host's state of every source.
func (x *examination) compare(ctx context.Context) {
	x.answers = verify.Answers{}
	x.lookup = x.answers.By(x.host.lookup(ctx))
	x.located = verify.Locate(x.entry.Outcomes, x.table)
	x.proofs = verify.Mounts(x.entry.Outcomes, x.located, x.lookup)
}

// again reads the container's table anew and compares once more.
func (x *examination) again(ctx context.Context) error {
	table, err := x.process.Table()
	if err != nil {
		return err
	}
	x.table = table
	x.compare(ctx)
	return nil
}

// proven reports whether what was read is known to be the container's.
func (x *examination) proven() bool { return x.identity.Truth == facts.Yes }

// made returns the container with what is known of it since it was made, without
// its mounts.
func (x *examination) made(force *inForce) facts.Container {
	container := x.entry.Container
	container.Pod = x.container.Pod
	if force.policy.AsksPrivilege() {
		if exact := x.host.view.Privilege(x.bundle); exact.Truth != facts.Unknown {
			container.Privileged = exact
		}
	}
	return container
}

// judged adds to the container what follows from the whole list of mounts that it
// asked for, and returns what the policy's paths lead to; fresh is as for env.
func (x *examination) judged(ctx context.Context, container *facts.Container, force *inForce, fresh bool) policy.Env {
	env := x.host.env(ctx, force.policy, fresh)
	asked := make([]facts.Mount, len(x.entry.Outcomes))
	for i, o := range x.entry.Outcomes {
		asked[i] = o.Mount
	}
	container.Role = facts.Role(asked, env.KubeletRoot)
	if force.policy.AsksHazards() {
		container.Hazards = askedHazards(*container, asked, dangerous(env.Vars))
	}
	return env
}

func (x *examination) found(code, message string) {
	x.findings = append(x.findings, facts.Finding{Code: code, Message: message})
}

func (x *examination) close() {
	if x.process != nil {
		_ = x.process.Close() // a pidfd; nothing can be lost
	}
}

// String names the container in log lines.
func (x *examination) String() string {
	return fmt.Sprintf("container %s of pod %s/%s", x.container.Name, x.container.Pod.Namespace, x.container.Pod.Name)
}
