package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"

	"github.com/mountward/mountward/pkg/cli"
	"github.com/mountward/mountward/pkg/hostview"
)

// name is what the runtime knows the plugin by.
const name = "mountward"

// The pause between two attempts to connect. Registering stops all container
// operations of the node for a moment, so it must never be tried in a tight
// loop.
const (
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// plugin is one connection to the runtime. Its methods are the NRI events, one
// file each.
type plugin struct {
	daemon *daemon
	stub   stub.Stub
	host   *host
	ctx    context.Context
	work   sync.WaitGroup
}

// deadlineShare is how much of the runtime's time for a request we take: an
// answer that comes too late costs the connection.
const deadlineShare = 0.7

// bound limits a handler to its share of the runtime's time, 2 s where the
// runtime tells none.
func (p *plugin) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := p.stub.RequestTimeout()
	if limit <= 0 {
		limit = stub.DefaultRequestTimeout
	}
	return context.WithTimeout(ctx, time.Duration(deadlineShare*float64(limit)))
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
	return serve(ctx, d, pid)
}

// serveSocket connects to the runtime's NRI socket, and again whenever the
// connection is lost.
func serveSocket(ctx context.Context, d *daemon, config cli.Config) error {
	pause := firstPause
	for {
		connected := d.now()
		err := connectAndServe(ctx, d, config)
		if ctx.Err() != nil {
			return nil
		}
		if d.now().Sub(connected) > lastPause {
			pause = firstPause
		}
		d.log().WithError(err).Warnf("no connection to the runtime; next attempt in about %s", pause)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause = min(2*pause, lastPause)
	}
}

func connectAndServe(ctx context.Context, d *daemon, config cli.Config) error {
	conn, err := net.Dial("unix", config.Socket)
	if err != nil {
		return fmt.Errorf("connect to NRI: %w (is containerd running, and NRI not disabled in its configuration?)", err)
	}
	defer conn.Close()
	pid, err := hostview.PeerPID(conn.(*net.UnixConn))
	if err != nil {
		return fmt.Errorf("find the runtime's process: %w", err)
	}
	// The index and name may be in the environment already; giving the index
	// twice is an error of the stub's.
	options := []stub.Option{stub.WithConnection(conn), stub.WithPluginName(name)}
	if os.Getenv(api.PluginIdxEnvVar) == "" {
		options = append(options, stub.WithPluginIdx(config.Index))
	}
	return serve(ctx, d, pid, options...)
}

// serve runs one connection with a stub of its own: one that failed once can
// never connect again.
func serve(ctx context.Context, d *daemon, runtime int, options ...stub.Option) error {
	view, err := hostview.Open(hostview.Options{PID: runtime})
	if err != nil {
		return err
	}
	defer view.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &plugin{daemon: d, ctx: ctx, host: newHost(view, d)}
	defer p.work.Wait()
	defer cancel()
	p.stub, err = stub.New(p, append(options, stub.WithLogger(stubLogger{d}))...)
	if err != nil {
		return fmt.Errorf("make the NRI stub: %w", err)
	}
	err = p.stub.Run(ctx)
	if err == nil {
		err = errors.New("the runtime closed the connection")
	}
	return err
}
