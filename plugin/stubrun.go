package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

const (
	// configureTime is how long a runtime may take from our connection to our
	// configuration. By default it has 5 s for the one step and 2 s for the
	// other; the stub gives up a registration after 5 s by itself.
	configureTime = 15 * time.Second
	// stubGrace is how long a stub may take to notice that it is over.
	stubGrace = 2 * time.Second
)

// watch is what tells a stub's run that it is over.
type watch struct {
	conn       *watchedConn
	configured <-chan struct{} // closed when the runtime has configured us
	within     time.Duration   // for that
	over       func()          // called before the stub is let go
}

// errHung is a connection of which something could not be brought to an end, NRI's
// stub or work in the background: it is left behind with its goroutines.
var errHung = errors.New("what belongs to the connection does not end")

// errNotConfigured is a connection on which the runtime never configured us.
var errNotConfigured = errors.New("not configured by the runtime")

// runStub runs a stub until its connection or the context ends.
//
// Once it is registered the stub waits for its configuration without end, deaf
// to its context, and holds the lock that its Stop needs (NRI v0.12.5,
// stub.Start): also where the runtime has gone away in between, or stays and
// never configures. Such a stub is let go.
func runStub(ctx context.Context, s stub.Stub, w watch) error {
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	late := time.NewTimer(w.within)
	defer late.Stop()
	why, configured := error(nil), w.configured
	for why == nil {
		select {
		case err := <-ended:
			return err
		case <-configured:
			late.Stop()
			configured = nil
		case <-late.C:
			why = fmt.Errorf("%w for %s, on a connection that it holds open", errNotConfigured, w.within)
		case <-w.conn.ended:
			if why = errors.New("the connection ended"); configured != nil {
				why = fmt.Errorf("%w before the connection ended", errNotConfigured)
			}
		case <-ctx.Done():
			why = ctx.Err()
		}
	}
	_ = w.conn.Close() // it is over, whatever this says
	if err, ok := endsSoon(ended); ok {
		return err
	}
	w.over()
	letGo(s)
	if _, ok := endsSoon(ended); !ok {
		return errors.Join(errHung, why)
	}
	return why
}

func endsSoon(ended <-chan error) (error, bool) {
	select {
	case err := <-ended:
		return err, true
	case <-time.After(stubGrace):
		return nil, false
	}
}

// letGo configures a stub that waits for the runtime to do so. The plugin
// refuses that, so Start returns and gives back what it holds.
func letGo(s stub.Stub) {
	service, ok := s.(interface {
		Configure(context.Context, *api.ConfigureRequest) (*api.ConfigureResponse, error)
	})
	if !ok {
		return
	}
	// In a goroutine: a stub that waits for something else keeps only that.
	go func() { _, _ = service.Configure(context.Background(), &api.ConfigureRequest{}) }()
}

// watchedConn is a connection that tells when it has ended. Somebody must read
// from it, as the stub does at all times.
type watchedConn struct {
	net.Conn
	ended chan struct{} // closed then
	once  sync.Once
}

func watched(conn net.Conn) *watchedConn {
	return &watchedConn{Conn: conn, ended: make(chan struct{})}
}

func (c *watchedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		c.once.Do(func() { close(c.ended) })
	}
	return n, err
}
