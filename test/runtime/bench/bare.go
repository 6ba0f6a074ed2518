//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

// bareName is what this program is called as a launched plugin: one that asks
// for the same events as mountward and gives the same answers, without thought.
// It is what NRI takes for that; no plugin that does the same can take less.
const bareName = "bare"

func bareLaunched() bool {
	return os.Getenv(api.PluginSocketEnvVar) != "" && filepath.Base(os.Args[0]) == "90-"+bareName
}

func serveBare(ctx context.Context) error {
	s, err := stub.New(bare{})
	if err != nil {
		return fmt.Errorf("make stub: %w", err)
	}
	return s.Run(ctx)
}

type bare struct{}

func (bare) CreateContainer(_ context.Context, _ *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	for _, m := range c.GetMounts() {
		i := slices.Index(m.GetOptions(), "rprivate")
		if m.GetDestination() != raised || i < 0 {
			continue
		}
		adjust := &api.ContainerAdjustment{}
		adjust.RemoveMount(m.GetDestination())
		m.Options[i] = "rslave"
		adjust.AddMount(m)
		return adjust, nil, nil
	}
	return nil, nil, nil
}

func (bare) ValidateContainerAdjustment(context.Context, *api.ValidateContainerAdjustmentRequest) error {
	return nil
}

func (bare) StartContainer(context.Context, *api.PodSandbox, *api.Container) error { return nil }

func (bare) StopContainer(context.Context, *api.PodSandbox, *api.Container) ([]*api.ContainerUpdate, error) {
	return nil, nil
}

func (bare) RemoveContainer(context.Context, *api.PodSandbox, *api.Container) error { return nil }
