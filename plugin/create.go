package main

import (
	"context"

	"github.com/containerd/nri/pkg/api"

	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/ledger"
	"github.com/mountward/mountward/pkg/policy"
)

// CreateContainer decides about every mount the container asks for and answers
// with the mounts to replace, or with an error that refuses the container.
func (p *plugin) CreateContainer(ctx context.Context, pod *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	adjustment, err := answer(ctx, p, handlerCreate, pod, c, p.create)
	return adjustment, nil, err
}

// afterMemory is where a test ends a creation that is remembered and not recorded.
const afterMemory handler = "CreateContainer:remembered"

func (p *plugin) create(ctx context.Context, t *turn, container facts.Container, force *inForce) (*api.ContainerAdjustment, error) {
	d := p.daemon
	static := container.Pod.Static().Truth == facts.Yes
	if force.refuse != nil && !static {
		if !t.commit(ctx) {
			return nil, errOver
		}
		d.countDecision(container, apply.Plan{Refusal: force.refuse}, force)
		d.recordRefusal(container, force, force.refuse)
		return nil, force.refuse
	}
	plan := d.plan(ctx, p.host, &container, force, static)
	if plan.Refusal == nil {
		p.before(ctx, container, plan.Outcomes)
	}
	if !t.commit(ctx) {
		return nil, errOver
	}
	if plan.Refusal == nil {
		p.created.add(container.ID)
		d.remember(container, plan, force, p.host.runtime)
		d.fault(afterMemory)
	}
	d.countDecision(container, plan, force)
	d.recordDecision(container, plan, force)
	d.recordHazards(container, plan, force)
	return plan.Adjustment, plan.Refusal
}

// plan decides. The container's mounts are resolved on the way.
func (d *daemon) plan(ctx context.Context, h *host, container *facts.Container, force *inForce, static bool) apply.Plan {
	return d.request(ctx, h, container, force, static, force.policy.Mode == policy.ModeEnforce)
}

// request is plan in a mode of the caller's.
func (d *daemon) request(ctx context.Context, h *host, container *facts.Container, force *inForce, static, enforce bool) apply.Plan {
	h.resolve(ctx, container.Mounts)
	env := h.env(ctx, force.policy, false)
	h.volumes(ctx, force.policy, container, env.KubeletRoot)
	plan, _ := apply.Judge(force.policy, container, env, apply.Request{
		Enforce:     enforce,
		NeverRefuse: static,
		Raise:       policy.OnUnmet(d.settings.Guard.OnUnmetRaise),
		Lower:       policy.OnUnmet(d.settings.Guard.OnUnmetLower),
		Namespace:   d.settings.Apply.Namespace,
		Table:       h.table(ctx),
	}, false)
	if raises(plan.Outcomes) {
		plan.Findings = append(plan.Findings, h.findings(ctx)...)
	}
	return plan
}

// raises reports whether something was, would have been or could not be given
// more propagation than it asks for.
func raises(outcomes []facts.Outcome) bool {
	for _, o := range outcomes {
		if o.Action == facts.ActionSet && o.Result != facts.Unchanged && o.Result != facts.Refused && o.Decided.Reach() >= o.Asked.Reach() {
			return true
		}
	}
	return false
}

// remember keeps what was decided for the validation, the proof and what comes
// after them. Without it the proof cannot tell; the container goes on.
func (d *daemon) remember(container facts.Container, plan apply.Plan, force *inForce, runtime string) {
	container.Mounts, container.Hazards = nil, nil // the outcomes have them, or show them
	err := d.ledger().Put(ledger.Entry{
		Container: container, Outcomes: plan.Outcomes, Created: d.now(), Runtime: runtime,
		Mode: string(force.policy.Mode), PolicyName: force.policy.Name, PolicySHA256: force.policy.SHA256,
	})
	if err != nil {
		d.log().WithError(err).Error("cannot keep what was decided; the proof at start will not be able to tell")
	}
}
