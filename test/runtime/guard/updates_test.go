//go:build linux

package guard_test

import (
	"context"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"

	"github.com/mountward/mountward/test/runtime/harness"
)

// updater is a plugin that asks for an update while it is asked about a
// container.
type updater struct {
	stub   stub.Stub
	synced chan struct{}
	answer chan error // to the update
}

func (u *updater) Synchronize(context.Context, []*api.PodSandbox, []*api.Container) ([]*api.ContainerUpdate, error) {
	close(u.synced)
	return nil, nil
}

func (u *updater) CreateContainer(context.Context, *api.PodSandbox, *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	_, err := u.stub.UpdateContainers([]*api.ContainerUpdate{{ContainerId: "other"}})
	u.answer <- err
	return nil, nil, nil
}

// TestUpdatesWithinAHandler is the trap of T7: containerd waits for the answer of
// a handler that waits for containerd, until it drops the plugin. That mountward
// never asks is in plugin/updates_test.go.
func TestUpdatesWithinAHandler(t *testing.T) {
	n := harness.New(t, harness.Config{})
	u := &updater{synced: make(chan struct{}), answer: make(chan error, 1)}
	closed := make(chan struct{})
	var err error
	u.stub, err = stub.New(u, stub.WithPluginIdx("10"), stub.WithPluginName("updater"),
		stub.WithSocketPath(n.NRISocket), stub.WithOnClose(func() { close(closed) }))
	if err != nil {
		t.Fatal(err)
	}
	if err := u.stub.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.stub.Stop)
	select {
	case <-u.synced:
	case <-time.After(time.Minute):
		t.Fatal("the plugin is not synchronized")
	}
	n.RunOne(harness.Container{})
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Fatal("the plugin is still connected: then an update within a handler is allowed")
	}
	if err := <-u.answer; err == nil {
		t.Error("the update was answered")
	}
}
