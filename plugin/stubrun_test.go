package main

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/net/multiplex"
	"github.com/containerd/ttrpc"

	"github.com/mountward/mountward/pkg/cli"
)

// dyingRuntime takes registrations and is gone before it configures.
type dyingRuntime struct{ registered chan struct{} }

func (r *dyingRuntime) RegisterPlugin(context.Context, *api.RegisterPluginRequest) (*api.Empty, error) {
	r.registered <- struct{}{}
	return &api.Empty{}, nil
}

func (*dyingRuntime) UpdateContainers(context.Context, *api.UpdateContainersRequest) (*api.UpdateContainersResponse, error) {
	return nil, errors.New("not here")
}

// TestARuntimeThatDiesBeforeItConfigures must not be the last one: NRI's stub
// waits for it for ever.
func TestARuntimeThatDiesBeforeItConfigures(t *testing.T) {
	n := newNode(t, enforcing, "")
	d := n.daemon()
	d.start("")
	socket := filepath.Join(n.dir, "nri.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	failed := make(chan error, 1)
	go func() { failed <- dieOnce(t.Context(), listener) }()

	type result struct {
		outcome outcome
		err     error
	}
	done := make(chan result, 1)
	go func() {
		o, err := connectAndServe(t.Context(), d, cli.Config{Socket: socket, Index: "90"})
		done <- result{o, err}
	}()
	select {
	case got := <-done:
		if got.outcome != unregistered || got.err == nil {
			t.Errorf("outcome %d, %v", got.outcome, got.err)
		}
	case <-time.After(time.Minute):
		t.Error("it waits for ever")
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

func dieOnce(ctx context.Context, listener net.Listener) error {
	conn, err := listener.Accept()
	if err != nil {
		return err
	}
	mux := multiplex.Multiplex(conn)
	defer mux.Close()
	service, err := mux.Listen(multiplex.RuntimeServiceConn)
	if err != nil {
		return err
	}
	server, err := ttrpc.NewServer()
	if err != nil {
		return err
	}
	runtime := &dyingRuntime{make(chan struct{}, 1)}
	api.RegisterRuntimeService(server, runtime)
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, service) }()
	<-runtime.registered
	err = server.Shutdown(ctx) // after the answer
	if ended := <-served; !errors.Is(ended, ttrpc.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}
