package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/ledger"
	"github.com/mountward/mountward/pkg/settings"
)

// launchedConfig is where the text comes from that containerd hands to a
// launched plugin; errors in it are reported by this name.
const launchedConfig = "/etc/nri/conf.d/90-mountward.conf"

// closeTime bounds how long the last records may take.
const closeTime = 3 * time.Second

// daemon is what outlives a connection to the runtime: settings, policy, trail
// and what was decided.
type daemon struct {
	source settings.Source
	stderr *os.File // nil when launched: it leads nowhere
	now    func() time.Time

	once     sync.Once
	settings settings.Settings
	trail    atomic.Pointer[audit.Trail] // nil until start
	entries  *ledger.Ledger
	devices  device.FS
	repeats  *audit.Repeats
	force    atomic.Pointer[inForce]
	reload   sync.Mutex
}

func newDaemon(source settings.Source, stderr *os.File) *daemon {
	return &daemon{
		source: source, stderr: stderr, now: time.Now,
		devices: device.FS{Sys: "/sys"},
		repeats: audit.NewRepeats(audit.RepeatsKept, audit.RepeatsEvery),
	}
}

// start reads the settings and the policy, once. A launched plugin gets its
// text with the first connection; nothing before that needs either. Nothing
// here fails: what is wrong is in the trail and in what is decided.
func (d *daemon) start(text string) {
	d.once.Do(func() {
		d.source.Text = text
		var name string
		var err error
		d.settings, name, err = d.source.Load()
		trailErr := d.openTrail()
		if trailErr != nil {
			d.log().WithError(trailErr).Error("cannot write the audit trail where the settings want it")
		}
		if d.entries, trailErr = ledger.Open(d.settings.ContainersDir()); trailErr != nil {
			d.log().WithError(trailErr).Error("cannot keep what is decided of containers")
		}
		d.log().WithField("settings", name).WithField("version", version()).Info("mountward starts")
		d.loadPolicy(err)
	})
}

// openTrail opens the audit trail. A trail that cannot be opened is no reason
// to be blind or to stop: records then go to standard error, or nowhere.
func (d *daemon) openTrail() error {
	options := audit.Options{
		Journal:  d.settings.Audit.Journal,
		File:     d.settings.Audit.File,
		Fallback: audit.FallbackFile,
	}
	if d.stderr != nil {
		options.Stderr = d.stderr
	}
	var err error
	if options.File != "" {
		err = os.MkdirAll(filepath.Dir(options.File), 0o700)
	}
	trail, openErr := audit.New(options)
	if openErr != nil {
		err = errors.Join(err, openErr)
		fallback := audit.Options{Stderr: d.stderr}
		if d.stderr == nil {
			fallback.Stderr = devNull{}
		}
		if trail, openErr = audit.New(fallback); openErr != nil {
			panic(openErr) // a writer was given
		}
	}
	d.trail.Store(trail)
	if level, parseErr := logrus.ParseLevel(string(d.settings.Log.Level)); parseErr == nil {
		trail.Logger().SetLevel(level)
	}
	return err
}

type devNull struct{}

func (devNull) Write(p []byte) (int, error) { return len(p), nil }

func (d *daemon) log() *logrus.Entry     { return logrus.NewEntry(d.trail.Load().Logger()) }
func (d *daemon) ledger() *ledger.Ledger { return d.entries }

// loadPolicy puts the configured policy in force, or what stands in for it, and
// records which.
func (d *daemon) loadPolicy(settingsErr error) {
	d.reload.Lock()
	defer d.reload.Unlock()
	current := d.force.Load()
	hadFile := current != nil && current.refuse == nil && current.origin != settings.OriginBuiltIn
	next := load(d.settings, settingsErr, hadFile)
	if next.warning != nil {
		d.log().WithError(next.warning).Warn("the policy is in force, but no copy of it could be kept for a day without it")
	}
	if next.rejected != nil && current != nil && current.refuse == nil {
		// A bad policy never replaces a good one.
		d.recordRejected(next.rejected, *current, true)
		return
	}
	d.force.Store(&next.inForce)
	if next.rejected != nil {
		d.recordRejected(next.rejected, next.inForce, false)
		return
	}
	d.recordLoaded(next.inForce)
}

// close flushes the trail.
func (d *daemon) close() {
	trail := d.trail.Load()
	if trail == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_ = trail.Close(ctx) // it is over; nobody is left to tell
}
