// Command mountward is an NRI plugin for containerd and its command line, in
// one static binary.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/mountward/mountward/pkg/cli"
	"github.com/mountward/mountward/pkg/control"
	"github.com/mountward/mountward/pkg/settings"
)

func main() { os.Exit(run()) }

func run() int {
	// A runtime starts us with nothing but three variables in the environment:
	// no arguments, and output that leads nowhere.
	if launched() && len(os.Args) == 1 {
		d := newDaemon(settings.Source{TextName: launchedConfig}, nil)
		if err := d.serve(context.Background(), serveLaunched); err != nil {
			return cli.ExitNo
		}
		return cli.ExitYes
	}
	return cli.Execute(context.Background(), cli.Program{
		Args: os.Args[1:], Stdout: os.Stdout, Stderr: os.Stderr, Version: version(),
		Run: func(ctx context.Context, config cli.Config) error {
			d := newDaemon(settings.Source{Path: config.Path, Explicit: config.Explicit}, os.Stderr)
			d.start("")
			return d.serve(ctx, func(ctx context.Context, d *daemon) error { return serveSocket(ctx, d, config) })
		},
		StandIn: standIn,
	})
}

// serve runs until the connection ends for good or a signal asks to stop; the
// policy is reloaded meanwhile, by SIGHUP, by a command, and when its files
// change.
func (d *daemon) serve(ctx context.Context, connection func(context.Context, *daemon) error) error {
	defer d.close()
	// Little memory matters more here than a few microseconds: what a start
	// allocates is gone the next moment.
	debug.SetGCPercent(50)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	beat := &pulse{
		daemon: d, grace: readyGrace, notify: control.NewNotifier(os.Getenv("NOTIFY_SOCKET")),
		every: control.WatchdogEvery(os.Getenv("WATCHDOG_USEC"), os.Getenv("WATCHDOG_PID")),
	}
	var beside sync.WaitGroup
	beside.Go(func() { d.reloadWhenAsked(ctx, hangup, beat.reload) })
	beside.Go(func() { d.safely("watching the policy files", func() { d.watchPolicy(ctx) }) })
	beside.Go(func() { beat.run(ctx) })
	beside.Go(func() { d.listen(ctx) })
	beside.Go(func() { d.keepCount(ctx) })
	err := connection(ctx, d)
	beat.tell(beat.notify.Stopping())
	if err != nil && ctx.Err() == nil {
		d.fails(err)
	}
	stop()
	waitFor(&beside, closeTime)
	return err
}

// waitFor waits for work, but not for a disk that hangs. It returns false where it
// has not ended.
func waitFor(work *sync.WaitGroup, most time.Duration) bool {
	done := make(chan struct{})
	go func() {
		work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-time.After(most):
		return false
	}
}
