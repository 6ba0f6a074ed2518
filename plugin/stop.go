package main

import (
	"context"

	"github.com/containerd/nri/pkg/api"

	"github.com/mountward/mountward/pkg/facts"
)

// StopContainer looks for what is left of the container when it had some time
// to go. What was decided of it is needed until it is removed. The event also
// comes for a container whose creation failed, with hardly more than an id.
func (p *plugin) StopContainer(ctx context.Context, pod *api.PodSandbox, c *api.Container) ([]*api.ContainerUpdate, error) {
	_, err := answer(ctx, p, handlerStop, pod, c,
		func(_ context.Context, _ *turn, container facts.Container, _ *inForce) (struct{}, error) {
			p.ended(container, false)
			return struct{}{}, nil
		})
	return nil, err
}

// RemoveContainer forgets the container, known or not.
func (p *plugin) RemoveContainer(ctx context.Context, pod *api.PodSandbox, c *api.Container) error {
	_, err := answer(ctx, p, handlerRemove, pod, c,
		func(_ context.Context, _ *turn, container facts.Container, _ *inForce) (struct{}, error) {
			p.ended(container, true)
			p.removed.add(container.ID)
			p.daemon.removed(container.ID, ending{started(c), p.host.runtime, p.created.take(container.ID)})
			return struct{}{}, nil
		})
	return err
}

// started answers whether a container that is removed had started. A containerd
// that tells no times, as 1.7.28 and 2.2.0 do not (their nri_api_linux.go), tells of
// one that has ended no more than that.
func started(c *api.Container) facts.Truth {
	switch {
	case c.GetStartedAt() != 0:
		return facts.Yes
	case c.GetCreatedAt() == 0 && c.GetState() == api.ContainerState_CONTAINER_STOPPED:
		return facts.Unknown
	default:
		return facts.No
	}
}
