package main

import (
	"context"

	"github.com/containerd/nri/pkg/api"
)

// StopContainer looks for what is left of the container when it had some time
// to go. What was decided of it is needed until it is removed. The event also
// comes for a container whose creation failed, with hardly more than an id.
func (p *plugin) StopContainer(_ context.Context, pod *api.PodSandbox, c *api.Container) ([]*api.ContainerUpdate, error) {
	p.ended(describe(pod, c), false)
	return nil, nil
}

// RemoveContainer forgets the container, known or not.
func (p *plugin) RemoveContainer(_ context.Context, pod *api.PodSandbox, c *api.Container) error {
	p.ended(describe(pod, c), true)
	if err := p.daemon.ledger().Remove(c.GetId()); err != nil {
		p.daemon.log().WithError(err).Warn("cannot forget a removed container")
	}
	return nil
}
