package main

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/containerd/nri/pkg/stub"
)

// stubGrace is how long a stub may take to notice that it is over.
const stubGrace = 2 * time.Second

// runStub runs a stub until its connection or the context ends. Once it is
// registered the stub waits for its configuration without end (NRI v0.12.5,
// stub.Start), also where the runtime has gone away in between: such a stub is
// left behind.
func runStub(ctx context.Context, s stub.Stub, gone <-chan struct{}) error {
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-gone:
	case <-ctx.Done():
	}
	select {
	case err := <-ended:
		return err
	case <-time.After(stubGrace):
		return errors.New("the connection ended before the runtime configured us")
	}
}

// watchedConn is a connection that tells when it has ended. Somebody must read
// from it, as the stub does at all times.
type watchedConn struct {
	net.Conn
	ended chan struct{} // closed then
	once  sync.Once
}

func (c *watchedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		c.once.Do(func() { close(c.ended) })
	}
	return n, err
}
