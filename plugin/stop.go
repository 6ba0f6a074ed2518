package main

import (
	"context"

	"github.com/containerd/nri/pkg/api"
)

// StopContainer has nothing to do: what was decided of the container is needed
// until it is removed. The event also comes for a container whose creation
// failed, with hardly more than an id.
func (p *plugin) StopContainer(context.Context, *api.PodSandbox, *api.Container) ([]*api.ContainerUpdate, error) {
	return nil, nil
}

// RemoveContainer forgets the container, known or not.
func (p *plugin) RemoveContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) error {
	if err := p.daemon.ledger().Remove(c.GetId()); err != nil {
		p.daemon.log().WithError(err).Warn("cannot forget a removed container")
	}
	return nil
}
