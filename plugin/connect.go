package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"

	"github.com/mountward/mountward/pkg/cli"
	"github.com/mountward/mountward/pkg/hostview"
)

// name is what the runtime knows the plugin by.
const name = "mountward"

// plugin is one connection to the runtime. Its methods are the NRI events, one
// file each.
type plugin struct {
	daemon  *daemon
	stub    stub.Stub
	host    *host
	ctx     context.Context
	runtime int // its process
	work    sync.WaitGroup
	chores  *chores
	maps    chan struct{} // taken while a map is drawn
	synced  atomic.Bool   // the runtime has synchronized us

	policy   *api.FailurePolicy // which the stub sends with the answer to Configure
	declared atomic.Pointer[declared]
}

// launched reports whether containerd started this process from its plugin
// directory.
func launched() bool { return os.Getenv(api.PluginSocketEnvVar) != "" }

// serveLaunched serves the connection the runtime passed on. It ends with it:
// the runtime starts another one when it starts again.
func serveLaunched(ctx context.Context, d *daemon) error {
	fd, err := strconv.Atoi(os.Getenv(api.PluginSocketEnvVar))
	if err != nil {
		return fmt.Errorf("read %s: %w", api.PluginSocketEnvVar, err)
	}
	pid, err := hostview.PeerPIDOfFD(uintptr(fd))
	if err != nil {
		return fmt.Errorf("find the runtime's process: %w", err)
	}
	_, err = serve(ctx, d, pid, nil)
	return err
}

// serveSocket connects to the runtime's NRI socket, and again whenever the
// connection is lost.
func serveSocket(ctx context.Context, d *daemon, config cli.Config) error {
	var next retry
	for {
		o, err := connectAndServe(ctx, d, config)
		d.state.disconnected(d.now(), err)
		if ctx.Err() != nil {
			return nil
		}
		pause, news := next.after(o, d.now())
		if news {
			d.log().WithError(err).Warnf("no connection to the runtime; next attempt in about %s", pause)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(jitter(pause)):
		}
	}
}

func connectAndServe(ctx context.Context, d *daemon, config cli.Config) (outcome, error) {
	conn, err := net.Dial("unix", config.Socket)
	if err != nil {
		return unreachable, fmt.Errorf("connect to NRI: %w (is containerd running, and NRI not disabled in its configuration?)", err)
	}
	defer conn.Close()
	pid, err := hostview.PeerPID(conn.(*net.UnixConn))
	if err != nil {
		return unregistered, fmt.Errorf("find the runtime's process: %w", err)
	}
	// The index and name may be in the environment already; giving the index
	// twice is an error of the stub's.
	watched := &watchedConn{Conn: conn, ended: make(chan struct{})}
	options := []stub.Option{stub.WithConnection(watched), stub.WithPluginName(name)}
	if os.Getenv(api.PluginIdxEnvVar) == "" {
		options = append(options, stub.WithPluginIdx(config.Index))
	}
	synced, err := serve(ctx, d, pid, watched.ended, options...)
	if synced {
		return served, err
	}
	return unregistered, err
}

// serve runs one connection with a stub of its own: one that failed once can
// never connect again. gone is closed when the connection ends, nil where only
// the stub can tell. It says whether the runtime had synchronized us.
func serve(ctx context.Context, d *daemon, runtime int, gone <-chan struct{}, options ...stub.Option) (synced bool, err error) {
	view, err := hostview.Open(hostview.Options{PID: runtime})
	if err != nil {
		return false, err
	}
	defer view.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &plugin{daemon: d, ctx: ctx, runtime: runtime, policy: new(api.FailurePolicy), host: newHost(view, d), chores: newChores(view), maps: make(chan struct{}, mapsAtOnce)}
	p.work.Go(func() { p.chores.run(ctx, func(chore func()) { d.safely("a chore", chore) }) })
	defer p.work.Wait()
	defer cancel()
	p.stub, err = stub.New(p, append(options, stub.WithFailurePolicy(p.policy), stub.WithLogger(stubLogger{d}))...)
	if err != nil {
		return false, fmt.Errorf("make the NRI stub: %w", err)
	}
	err = runStub(ctx, p.stub, gone)
	if err == nil {
		err = errors.New("the runtime closed the connection")
	}
	d.state.disconnected(d.now(), err)
	return p.synced.Load(), err
}
