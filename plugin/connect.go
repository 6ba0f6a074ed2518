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
	nrinet "github.com/containerd/nri/pkg/net"
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
	life    *connectionLife
	roster  roster   // of who stands aside
	removed removals // by the runtime
	created unstarted

	reloaded chan struct{} // another policy is in force

	policy   *api.FailurePolicy // which the stub sends with the answer to Configure
	declared atomic.Pointer[declared]
}

// launched reports whether containerd started this process from its plugin
// directory.
func launched() bool { return os.Getenv(api.PluginSocketEnvVar) != "" }

// serveLaunched serves the connection the runtime passed on. It ends with it,
// and never without an error: the runtime starts another one when it starts
// again.
func serveLaunched(ctx context.Context, d *daemon) error {
	fd, err := strconv.Atoi(os.Getenv(api.PluginSocketEnvVar))
	if err != nil {
		return fmt.Errorf("read %s: %w", api.PluginSocketEnvVar, err)
	}
	pid, err := hostview.PeerPIDOfFD(uintptr(fd))
	if err != nil {
		return fmt.Errorf("find the runtime's process: %w", err)
	}
	conn, err := nrinet.NewFdConn(fd)
	if err != nil {
		return fmt.Errorf("use the connection the runtime passed on: %w", err)
	}
	defer conn.Close()
	e := serve(ctx, d, pid, conn)
	if ctx.Err() == nil {
		d.recordEnd(e, "another one starts with containerd")
	}
	return e.err
}

// serveSocket connects to the runtime's NRI socket, and again whenever the
// connection is lost. It gives up where connections were left behind of which
// something does not end: the process is then better replaced.
func serveSocket(ctx context.Context, d *daemon, config cli.Config) error {
	var next retry
	for hung := 0; ; {
		e := connectAndServe(ctx, d, config)
		d.state.disconnected(d.now(), e.err)
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(e.err, errHung) {
			if hung++; hung == maxHung {
				d.recordEnd(e, "this process ends, to be started anew")
				return fmt.Errorf("%d connections were left behind: %w", hung, e.err)
			}
		}
		pause, news := next.after(e.outcome, e.runtime, e.held, d.now())
		if news {
			d.recordEnd(e, fmt.Sprintf("next attempt in about %s", pause))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(jitter(pause)):
		}
	}
}

// maxHung bounds how many connections are left behind.
const maxHung = 3

// workTime is how long what was begun for a connection may take after its end. All
// of it has bounds of 5 s, which the kernel need not keep.
const workTime = 10 * time.Second

func connectAndServe(ctx context.Context, d *daemon, config cli.Config) end {
	conn, err := net.Dial("unix", config.Socket)
	if err != nil {
		return end{outcome: unreachable, err: fmt.Errorf("connect to NRI: %w (is containerd running, and NRI not disabled in its configuration?)", err)}
	}
	defer conn.Close()
	pid, err := hostview.PeerPID(conn.(*net.UnixConn))
	if err != nil {
		return end{outcome: unregistered, err: fmt.Errorf("find the runtime's process: %w", err)}
	}
	// The index may be in the environment already; giving it twice is an error
	// of the stub's.
	options := []stub.Option{stub.WithPluginName(name)}
	if os.Getenv(api.PluginIdxEnvVar) == "" {
		options = append(options, stub.WithPluginIdx(config.Index))
	}
	e := serve(ctx, d, pid, conn, options...)
	e.runtime = pid
	return e
}

// serve runs one connection with a stub of its own: one that failed once can
// never connect again (NRI v0.12.5: its connection stays set).
func serve(ctx context.Context, d *daemon, runtime int, conn net.Conn, options ...stub.Option) (e end) {
	view, err := hostview.Open(hostview.Options{PID: runtime})
	if err != nil {
		return end{outcome: unregistered, err: err}
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &plugin{
		daemon: d, ctx: ctx, runtime: runtime, policy: new(api.FailurePolicy), host: newHost(view, d), chores: newChores(view), maps: make(chan struct{}, mapsAtOnce),
		life: newConnectionLife(), reloaded: make(chan struct{}, 1),
	}
	p.work.Go(func() { p.chores.run(ctx, func(chore func()) { d.safely("a chore", chore) }) })
	p.background("the watch of the host", func() { p.watchHost(ctx) })
	p.background("the watch for another policy", func() { p.judgeByEach(ctx) })
	defer func() {
		cancel()
		if !waitFor(&p.work, workTime) {
			e.err = errors.Join(errHung, e.err)
			return // what hangs may use the view
		}
		_ = view.Close() // it was only read
	}()
	w := p.life.watch(conn, d.configureTime)
	p.stub, err = stub.New(p, append(options, stub.WithConnection(w.conn), stub.WithFailurePolicy(p.policy), stub.WithLogger(stubLogger{d}))...)
	if err != nil {
		return end{outcome: unregistered, err: fmt.Errorf("make the NRI stub: %w", err)}
	}
	err = runStub(ctx, p.stub, w)
	if err == nil {
		err = errors.New("the runtime closed the connection")
	}
	d.state.disconnected(d.now(), err)
	return p.life.end(err, d.now())
}
