//go:build linux

package adapt

import (
	"context"
	"fmt"
	"slices"

	"github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

// SetState replaces what plugins that connect from now on are synchronized
// with.
func (r *Runtime) SetState(pods []*api.PodSandbox, containers []*api.Container) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.pods, r.containers = pods, containers
}

// synchronize gives plugins the state: once for all that are launched, and for
// each that connects.
func (r *Runtime) synchronize(ctx context.Context, plugins adaptation.SyncCB) error {
	r.mutex.Lock()
	pods, containers := slices.Clone(r.pods), slices.Clone(r.containers)
	r.mutex.Unlock()

	_, err := plugins(ctx, pods, containers)

	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.syncs++
	close(r.synced)
	r.synced = make(chan struct{})
	return err
}

// Syncs is how often plugins were synchronized, well or not: the first time is
// that of the launched ones.
func (r *Runtime) Syncs() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.syncs
}

// WaitSyncs waits until plugins were synchronized so often, and those take part
// in requests.
func (r *Runtime) WaitSyncs(ctx context.Context, n int) error {
	for {
		r.mutex.Lock()
		syncs, synced := r.syncs, r.synced
		r.mutex.Unlock()
		if syncs >= n {
			// The adaptation adds the plugin before it ends the block.
			r.Adaptation.BlockPluginSync().Unblock()
			return nil
		}
		select {
		case <-synced:
		case <-ctx.Done():
			return fmt.Errorf("wait for plugins: %d of %d: %w", syncs, n, ctx.Err())
		}
	}
}

// Connect connects a plugin of this process through the socket, as a process of
// its own would, and returns when it takes part in requests. The plugin is what
// a stub takes. It is disconnected by the function, or by Stop.
func (r *Runtime) Connect(ctx context.Context, index, name string, plugin stub.Plugin) (disconnect func(), err error) {
	syncs := r.Syncs()
	s, err := stub.New(plugin,
		stub.WithPluginIdx(index),
		stub.WithPluginName(name),
		stub.WithSocketPath(r.Socket),
		stub.WithOnClose(func() {}),
	)
	if err != nil {
		return nil, fmt.Errorf("make plugin %s-%s: %w", index, name, err)
	}
	if err := s.Start(ctx); err != nil {
		return nil, fmt.Errorf("connect plugin %s-%s: %w", index, name, err)
	}
	r.stops = append(r.stops, s.Stop)
	return s.Stop, r.WaitSyncs(ctx, syncs+1)
}
