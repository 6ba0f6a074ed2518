package main

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mountward/mountward/pkg/audit"
)

// connectionLife is how far one connection to the runtime has come.
type connectionLife struct {
	configured chan struct{} // closed when it is
	once       sync.Once
	over       atomic.Bool // the stub is let go: it is not to be configured
	synced     atomic.Pointer[time.Time]
}

func newConnectionLife() *connectionLife {
	return &connectionLife{configured: make(chan struct{})}
}

// watch returns what runs a stub on a connection for this life.
func (l *connectionLife) watch(conn net.Conn, within time.Duration) watch {
	return watch{conn: watched(conn), configured: l.configured, within: within, over: func() { l.over.Store(true) }}
}

var errLetGo = errors.New("this connection was given up")

// configure notes that the runtime has configured us: the settings are known.
func (l *connectionLife) configure() { l.once.Do(func() { close(l.configured) }) }

// synchronize notes that the runtime has told us what runs.
func (l *connectionLife) synchronize(now time.Time) { l.synced.Store(&now) }

// end is how an attempt to be connected ended.
type end struct {
	runtime int // process on the other side; 0: nobody listens
	outcome outcome
	err     error
	held    time.Duration // since the runtime synchronized us
}

func (l *connectionLife) end(err error, now time.Time) end {
	if synced := l.synced.Load(); synced != nil {
		return end{outcome: served, err: err, held: now.Sub(*synced)}
	}
	return end{outcome: unregistered, err: err}
}

// connectionEvent returns the record of the connection as it is now.
func (d *daemon) connectionEvent(state string) audit.Connection {
	link := d.state.connection()
	event := audit.Connection{State: state, NRI: link.nri, RuntimePID: link.pid}
	if link.runtime != "" {
		event.Runtime = link.runtime + " " + link.version
	}
	return event
}

// recordConnected tells that the runtime has synchronized us.
func (d *daemon) recordConnected(containers int) {
	event := d.connectionEvent(audit.Connected)
	event.Containers = containers
	d.trail.Load().Record(event)
}

// recordEnd tells that there is no connection now, and what comes next.
func (d *daemon) recordEnd(e end, next string) {
	if d.trail.Load() == nil {
		return // a launched one that was never configured: its end is told with the reason
	}
	event := d.connectionEvent(audit.Lost)
	switch {
	case e.outcome == served:
	case errors.Is(e.err, errNotConfigured):
		event.State = audit.GivenUp
	default:
		d.log().WithError(e.err).Warnf("no connection to the runtime; %s", next)
		return
	}
	event.Held, event.Why, event.Next = e.held, e.err.Error(), next
	d.trail.Load().Record(event)
}
