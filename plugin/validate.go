package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/containerd/nri/pkg/api"

	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hazard"
	"github.com/mountward/mountward/pkg/policy"
)

// ValidateContainerAdjustment sees the list that all plugins together made. It
// rejects only where a change of ours was undone, or where another plugin added
// an rshared mount that the policy denies.
func (p *plugin) ValidateContainerAdjustment(ctx context.Context, req *api.ValidateContainerAdjustmentRequest) error {
	_, err := answer(ctx, p, handlerValidate, req.GetPod(), req.GetContainer(),
		func(ctx context.Context, t *turn, container facts.Container, force *inForce) (struct{}, error) {
			return struct{}{}, p.validate(ctx, t, req, container, force)
		})
	return err
}

func (p *plugin) validate(ctx context.Context, t *turn, req *api.ValidateContainerAdjustmentRequest, container facts.Container, force *inForce) error {
	d := p.daemon
	if force.refuse != nil {
		return nil // refused at creation, or a static pod
	}
	entry, ok, err := d.ledger().Get(container.ID)
	if err != nil {
		d.log().WithError(err).Error("cannot read what was decided; the final mounts are not compared with it")
	}
	var outcomes []facts.Outcome
	if ok {
		outcomes = entry.Outcomes
	}
	final := finalMounts(container.Mounts, req.GetAdjust().GetMounts())
	problem := undone(outcomes, final)
	if problem == nil {
		problem = d.denied(ctx, p.host, container, final, outcomes, force)
	}
	if !t.commit(ctx) {
		return errOver
	}
	if problem == nil {
		return nil
	}
	reject := fmt.Errorf("mountward: %s; changed by plugin %s", problem.text, owner(req, container.ID, problem.destination))
	enforce := force.policy.Mode == policy.ModeEnforce && container.Pod.Static().Truth != facts.Yes
	d.countRefusal(container, reject, enforce, force)
	d.recordRejection(container, force, reject, enforce)
	if !enforce {
		return nil
	}
	return reject
}

type problem struct {
	destination, text string
}

// finalMounts applies the merged adjustment to the pristine mounts by exact
// destination, as the runtime will.
func finalMounts(pristine []facts.Mount, adjust []*api.Mount) []facts.Mount {
	touched := map[string]bool{}
	var added []facts.Mount
	for _, m := range adjust {
		if destination, remove := m.IsMarkedForRemoval(); remove {
			touched[destination] = true
			continue
		}
		touched[m.GetDestination()] = true
		added = append(added, describeMounts([]*api.Mount{m})...)
	}
	var final []facts.Mount
	for _, m := range pristine {
		if !touched[m.Destination] {
			final = append(final, m)
		}
	}
	return append(final, added...)
}

// undone finds a change of ours that the final list does not have.
func undone(outcomes []facts.Outcome, final []facts.Mount) *problem {
	for _, o := range outcomes {
		if o.Result != facts.Applied || o.Would {
			continue
		}
		seen := "missing"
		for _, m := range final {
			if m.Destination == o.Mount.Destination {
				seen = m.Requested().Option()
				if seen == "" {
					seen = "without a propagation word"
				}
			}
		}
		if seen != o.Decided.Option() {
			return &problem{o.Mount.Destination, fmt.Sprintf("mount %s was set to %s by rule %q (%s) and is %s in the final list",
				o.Mount.Destination, o.Decided.Option(), o.Rule, o.Position, seen)}
		}
	}
	return nil
}

// denied finds an rshared mount in the final list that was not asked for when
// we decided, and that the policy denies.
func (d *daemon) denied(ctx context.Context, h *host, container facts.Container, final []facts.Mount, outcomes []facts.Outcome, force *inForce) *problem {
	news := false
	known := map[string]bool{}
	for _, o := range outcomes {
		known[o.Mount.Destination+"\x00"+o.Mount.Source] = o.Asked == facts.Shared
	}
	isNew := func(m facts.Mount) bool {
		return m.Bind() && m.Requested() == facts.Shared && !known[m.Destination+"\x00"+m.Source]
	}
	for _, m := range final {
		news = news || isNew(m)
	}
	if !news {
		return nil
	}
	h.resolve(ctx, final)
	env := h.env(ctx, force.policy, false)
	container.Mounts = final
	container.Role = facts.Role(final, env.KubeletRoot)
	h.volumes(ctx, force.policy, &container, env.KubeletRoot)
	if force.policy.AsksHazards() {
		container.Hazards = hazard.Check(hazard.Asked(container, dangerous(env.Vars)))
	}
	for i, decision := range force.policy.Decide(container, env, false) {
		if decision.Action != facts.ActionDeny || !isNew(final[i]) {
			continue
		}
		o := facts.Outcome{Mount: final[i], Asked: facts.Shared, Rule: decision.Rule, Position: decision.Position, Reason: decision.Reason}
		return &problem{final[i].Destination, strings.TrimPrefix(apply.Refusal(o), "mountward: ")}
	}
	return nil
}

// owner names the plugin that made the final mount at a destination.
func owner(req *api.ValidateContainerAdjustmentRequest, id, destination string) string {
	// NRI's MountOwner does not take a nil receiver.
	if owners := req.GetOwners(); owners != nil {
		if name, ok := owners.MountOwner(id, destination); ok {
			return name
		}
	}
	return "unknown"
}
