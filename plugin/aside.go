package main

import "time"

// aside is why the daemon answers every event without a change.
type aside struct {
	why   string
	until time.Time // zero: until it is taken back
	// idle is set where another instance decides: nothing is remembered,
	// forgotten or recorded of any container.
	idle bool
}

// standsAside returns why nothing is decided now, nil where it is.
func (d *daemon) standsAside() *aside {
	for _, a := range []*aside{d.aside.Load(), d.emergency.Load()} {
		if a != nil && (a.until.IsZero() || d.now().Before(a.until)) {
			return a
		}
	}
	return nil
}
