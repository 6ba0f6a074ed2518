package main

import (
	"context"
	"time"

	"github.com/mountward/mountward/pkg/control"
)

// listenPause is how long to wait before the next attempt to have the control
// socket, which another daemon may hold.
const listenPause = 10 * time.Second

// listen answers the command line until ctx ends. Where the socket cannot be
// had, or is taken away, it tries again: nothing else depends on it.
func (d *daemon) listen(ctx context.Context) {
	select {
	case <-d.started:
	case <-ctx.Done():
		return
	}
	said := ""
	for ctx.Err() == nil {
		l, err := control.Listen(d.settings.RuntimeDir)
		if err == nil {
			said = ""
			l.Serve(ctx, version(), d)
			continue
		}
		if said != err.Error() {
			said = err.Error()
			log := d.log().WithError(err)
			if d.standby.Load() != nil { // the one that decides has it
				log.Info("the command line reaches another daemon")
			} else {
				log.Error("the command line cannot reach this daemon; it is tried again")
			}
		}
		select {
		case <-time.After(listenPause):
		case <-ctx.Done():
		}
	}
}
