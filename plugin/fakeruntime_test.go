package main

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/net/multiplex"
	"github.com/containerd/ttrpc"
)

// behaviour is what a fake runtime does with one connection.
type behaviour int

const (
	works       behaviour = iota // registers, configures, synchronizes
	hangsUp                      // closes at once
	dies                         // registers and is gone
	keepsSilent                  // registers and says no more
	keepsStill                   // does not even register
)

// fakeRuntime is the runtime's side of NRI as far as it goes wrong.
type fakeRuntime struct {
	tb         testing.TB
	path       string
	config     string
	pods       []*api.PodSandbox
	containers []*api.Container
	next       chan behaviour // of the next connection
	synced     chan api.PluginService
	accepted   atomic.Int32

	mu    sync.Mutex
	conns []net.Conn
}

func fakeRuntimeAt(tb testing.TB, path string) *fakeRuntime {
	tb.Helper()
	listener, err := net.Listen("unix", path)
	if err != nil {
		tb.Fatal(err)
	}
	r := &fakeRuntime{tb: tb, path: path, next: make(chan behaviour, 8), synced: make(chan api.PluginService, 8)}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	tb.Cleanup(func() {
		cancel()
		_ = listener.Close()
		r.hangUp()
		work.Wait()
	})
	work.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			r.accepted.Add(1)
			r.mu.Lock()
			r.conns = append(r.conns, conn)
			r.mu.Unlock()
			select {
			case how := <-r.next:
				work.Go(func() { r.serve(ctx, conn, how) })
			case <-ctx.Done():
				return
			}
		}
	})
	return r
}

// synchronized waits until a plugin is, and fails the test where its connection
// ends before.
func synchronized[E any](r *fakeRuntime, ended <-chan E) api.PluginService {
	r.tb.Helper()
	select {
	case plugin := <-r.synced:
		return plugin
	case e := <-ended:
		why := any(e)
		if e, ok := why.(end); ok {
			why = e.err
		}
		r.tb.Fatalf("not synchronized: %v", why)
		return nil
	}
}

// hangUp closes all connections.
func (r *fakeRuntime) hangUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, conn := range r.conns {
		_ = conn.Close() // the other side may have been first
	}
	r.conns = nil
}

func (r *fakeRuntime) serve(ctx context.Context, conn net.Conn, how behaviour) {
	if how == hangsUp {
		_ = conn.Close()
	}
	if how == hangsUp || how == keepsStill {
		return
	}
	mux := multiplex.Multiplex(conn)
	service, err := mux.Listen(multiplex.RuntimeServiceConn)
	if err != nil {
		r.tb.Error(err)
		return
	}
	server, err := ttrpc.NewServer()
	if err != nil {
		r.tb.Error(err)
		return
	}
	registered := make(registrations, 1)
	api.RegisterRuntimeService(server, registered)
	served := make(chan error, 1)
	go func() { served <- server.Serve(ctx, service) }()
	select {
	case <-registered:
	case <-ctx.Done():
	}
	if how == works {
		r.work(ctx, mux)
	}
	if how == dies {
		_ = server.Shutdown(ctx) // after the answer
		_ = mux.Close()
	} else {
		<-ctx.Done() // it stays as it is until the test ends
		_ = mux.Close()
		_ = server.Close()
	}
	if err := <-served; !errors.Is(err, ttrpc.ErrServerClosed) && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		r.tb.Errorf("the fake runtime: %v", err)
	}
}

func (r *fakeRuntime) work(ctx context.Context, mux multiplex.Mux) {
	conn, err := mux.Open(multiplex.PluginServiceConn)
	if err != nil {
		r.tb.Error(err)
		return
	}
	client := api.NewPluginClient(ttrpc.NewClient(conn))
	if _, err = client.Configure(ctx, &api.ConfigureRequest{
		Config: r.config, RuntimeName: "fake", RuntimeVersion: "v1", NRIVersion: "v0.12.3",
		RegistrationTimeout: 5000, RequestTimeout: 2000,
	}); err == nil {
		_, err = client.Synchronize(ctx, &api.SynchronizeRequest{Pods: r.pods, Containers: r.containers})
	}
	if err == nil {
		r.synced <- client
	}
}

// registrations is the runtime's service, and tells of who registers.
type registrations chan struct{}

func (r registrations) RegisterPlugin(context.Context, *api.RegisterPluginRequest) (*api.Empty, error) {
	r <- struct{}{}
	return &api.Empty{}, nil
}

func (registrations) UpdateContainers(context.Context, *api.UpdateContainersRequest) (*api.UpdateContainersResponse, error) {
	return nil, errors.New("not here")
}

// silentConn is a connection on which nothing ever comes.
type silentConn struct{ net.Conn }

func (silentConn) Close() error { return nil }

// dialFD connects and returns the number of a descriptor, as a runtime hands
// one to a plugin it launches.
func dialFD(tb testing.TB, path string) string {
	tb.Helper()
	conn, err := net.DialTimeout("unix", path, time.Minute)
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close()
	file, err := conn.(*net.UnixConn).File()
	if err != nil {
		tb.Fatal(err)
	}
	fd, err := dup(file.Fd())
	if err != nil || file.Close() != nil {
		tb.Fatal(err)
	}
	return strconv.Itoa(fd)
}

// dup makes a descriptor that no *os.File closes.
func dup(fd uintptr) (int, error) {
	n, err := syscall.Dup(int(fd))
	if err == nil {
		syscall.CloseOnExec(n)
	}
	return n, err
}
