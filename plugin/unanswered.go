package main

import (
	"fmt"
	"runtime/debug"

	"github.com/containerd/nri/pkg/api"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
)

// unanswered is the answer of a handler whose work did not end in time.
func (d *daemon) unanswered(h handler, pod *api.PodSandbox, c *api.Container, f *inForce, why error) error {
	d.state.late.Add(1)
	container := named(pod, c)
	refused := f.refuses(h, pod)
	if refused {
		d.state.refusals.Add(1)
	}
	var answer error
	if refused {
		answer = fmt.Errorf("mountward: %s was not decided: %w; try again, and see the journal of the node", h, why)
	}
	finding := facts.Finding{Code: "overdue", Message: fmt.Sprintf("%s was answered without a decision: %s", h, why)}
	switch h {
	case handlerCreate, handlerValidate:
		event := audit.Decision{Container: audit.ContainerOf(container), Policy: f.record(), Refused: refused, Findings: []facts.Finding{finding}}
		if refused {
			event.Owner = answer.Error()
		}
		d.record(event)
	default:
		event := audit.Drift{Container: audit.ContainerOf(container), Policy: f.record(), Refused: refused, Findings: []facts.Finding{finding}}
		if refused {
			event.Owner = answer.Error()
		}
		d.trail.Load().Record(event)
	}
	return answer
}

// crashed is the answer of a handler whose work panicked.
func (d *daemon) crashed(h handler, pod *api.PodSandbox, c *api.Container, f *inForce, p *panicked) error {
	container := named(pod, c)
	event := audit.Crash{
		Container: audit.ContainerOf(container), Policy: f.record(),
		Handler: string(h), Panic: p.text, Stack: p.stack, Refused: f.refuses(h, pod),
	}
	d.trail.Load().Record(event)
	d.state.panics.Add(1)
	if !event.Refused {
		return nil
	}
	d.state.refusals.Add(1)
	return fmt.Errorf("mountward: %s was not decided: a fault in mountward itself; its record (crash) is in the journal of the node", h)
}

// named is what a record needs of a container, and no more: the whole of it may
// be what went wrong.
func named(pod *api.PodSandbox, c *api.Container) facts.Container {
	return facts.Container{
		ID: c.GetId(), Name: c.GetName(),
		Pod: facts.Pod{ID: pod.GetId(), Namespace: pod.GetNamespace(), Name: pod.GetName(), UID: pod.GetUid()},
	}
}

// panicked is a panic that was caught.
type panicked struct{ text, stack string }

// catch runs f and returns its panic.
func catch(f func()) (p *panicked) {
	defer func() {
		if r := recover(); r != nil {
			p = &panicked{text: fmt.Sprint(r), stack: string(debug.Stack())}
		}
	}()
	f()
	return nil
}

// safely runs what nobody waits for. A panic in it is recorded: it must not
// take the decisions with it.
func (d *daemon) safely(what string, f func()) {
	p := catch(f)
	if p == nil {
		return
	}
	d.state.panics.Add(1)
	event := audit.Crash{Handler: what, Panic: p.text, Stack: p.stack}
	if trail := d.trail.Load(); trail != nil {
		trail.Record(event)
	}
}

// background is safely in a goroutine that the end of the connection waits for.
func (p *plugin) background(what string, f func()) {
	p.work.Go(func() { p.daemon.safely(what, f) })
}
