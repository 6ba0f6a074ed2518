package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/cli"
	"github.com/mountward/mountward/pkg/control"
	"github.com/mountward/mountward/pkg/settings"
)

// bystander is a plugin with our name that changes nothing.
type bystander struct {
	registered func()
	life       *connectionLife
}

// Configure asks for one event: the runtime wants at least one, and a plugin that
// it requires must be there at each creation.
func (b bystander) Configure(context.Context, string, string, string) (api.EventMask, error) {
	if b.life.over.Load() {
		return 0, errLetGo
	}
	b.life.configure()
	var mask api.EventMask
	mask.Set(api.Event_CREATE_CONTAINER)
	return mask, nil
}

// Synchronize tells that we take part from now on.
func (b bystander) Synchronize(context.Context, []*api.PodSandbox, []*api.Container) ([]*api.ContainerUpdate, error) {
	b.registered()
	return nil, nil
}

// CreateContainer changes nothing.
func (bystander) CreateContainer(context.Context, *api.PodSandbox, *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	return nil, nil, nil
}

// standIn takes the place of a daemon that does not run, until the time is up or
// it is stopped: containers are created as they ask to be, where containerd
// would refuse them without us. A daemon that starts meanwhile finds the note
// and stands aside as well.
func standIn(ctx context.Context, config cli.Config, length time.Duration, stderr io.Writer) error {
	// A runtime that is not there is no emergency of ours.
	conn, err := dial(config.Socket)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()

	d := newDaemon(settings.Source{Path: config.Path, Explicit: config.Explicit}, os.Stderr)
	d.open()
	defer d.close()
	now := d.now()
	one := control.Emergency{Since: now, Until: now.Add(length)}
	event := audit.Emergency{Begins: true, Since: one.Since, Until: one.Until, Cause: audit.EmergencyAsked, StandsIn: true}
	dir := d.settings.RuntimeDir
	noted := true
	if err := one.Write(dir); err != nil {
		noted = false
		d.log().WithError(err).Warn("a daemon that starts meanwhile will decide")
	}
	ctx, cancel := context.WithDeadline(ctx, one.Until)
	defer cancel()
	if noted {
		go ended(ctx, dir, cancel)
	}
	d.trail.Load().Record(event)
	err = standBy(ctx, d, conn, config, stderr)
	event.Begins, event.Cause = false, audit.EmergencyStopped
	switch _, still, _ := control.ReadEmergency(dir); {
	case err != nil:
		event.Cause = err.Error()
	case !d.now().Before(one.Until):
		event.Cause = audit.EmergencyOver
	case noted && !still:
		event.Cause = audit.EmergencyEnded
	}
	d.trail.Load().Record(event)
	if removeErr := one.Remove(dir); removeErr != nil {
		d.log().WithError(removeErr).Warn("a daemon that starts before the time is up stands aside")
	}
	return err
}

// ended cancels when the note is gone: another command has ended the emergency.
func ended(ctx context.Context, dir string, cancel func()) {
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if _, noted, err := control.ReadEmergency(dir); err == nil && !noted {
			cancel()
			return
		}
	}
}

// standBy is registered until ctx ends, and again where the runtime is restarted
// meanwhile.
func standBy(ctx context.Context, d *daemon, conn net.Conn, config cli.Config, stderr io.Writer) error {
	var once atomic.Bool
	registered := func() {
		once.Store(true)
		fmt.Fprintf(stderr, "mountward: EMERGENCY: registered as %s-%s: containers are created unjudged\n", config.Index, name)
	}
	for {
		err := d.attend(ctx, conn, config, bystander{registered: registered})
		if ctx.Err() != nil {
			return nil
		}
		if !once.Load() {
			return fmt.Errorf("register with the runtime as %s-%s: %w", config.Index, name, err)
		}
		fmt.Fprintf(stderr, "mountward: EMERGENCY: the connection to the runtime is lost (%v); it is tried again\n", err)
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(jitter(dialPause)):
			}
			if conn, err = dial(config.Socket); err == nil {
				break
			}
		}
	}
}

// attend runs one connection.
func (d *daemon) attend(ctx context.Context, conn net.Conn, config cli.Config, b bystander) error {
	defer conn.Close()
	b.life = newConnectionLife()
	w := b.life.watch(conn, d.configureTime)
	options := []stub.Option{stub.WithConnection(w.conn), stub.WithPluginName(name), stub.WithLogger(stubLogger{d})}
	if os.Getenv(api.PluginIdxEnvVar) == "" { // giving it twice is an error of the stub's
		options = append(options, stub.WithPluginIdx(config.Index))
	}
	s, err := stub.New(b, options...)
	if err != nil {
		return fmt.Errorf("make the NRI stub: %w", err)
	}
	return runStub(ctx, s, w)
}

func dial(socket string) (net.Conn, error) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("connect to NRI: %w (is containerd running, and NRI not disabled in its configuration?)", err)
	}
	return conn, nil
}
