package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/mountward/mountward/config"
	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/control"
	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/ledger"
	"github.com/mountward/mountward/pkg/policyfile"
	"github.com/mountward/mountward/pkg/rollout"
	"github.com/mountward/mountward/pkg/settings"
)

// launchedConfig is where the text comes from that containerd hands to a
// launched plugin; errors in it are reported by this name.
const launchedConfig = "/etc/nri/conf.d/90-mountward.conf"

// maxDevices bounds how many block devices are remembered between two changes.
const maxDevices = 4096

// closeTime bounds how long the last records may take.
const closeTime = 3 * time.Second

// daemon is what outlives a connection to the runtime: settings, policy, trail
// and what was decided.
type daemon struct {
	source settings.Source
	stderr *os.File // nil when launched: it leads nowhere
	now    func() time.Time

	configureTime, settleTime time.Duration

	once     sync.Once
	settings settings.Settings
	mistakes error                       // in the settings, which are read once; nil: none
	trail    atomic.Pointer[audit.Trail] // nil until start
	entries  *ledger.Ledger
	devices  *device.Cache
	lives    *lives
	inHand   inHand
	state    *state
	started  chan struct{} // closed when the settings, the policy and the trail are there
	rollout  *rollout.Count
	repeats  *audit.Repeats
	kubelet  *kubelet
	inside   apply.Namespace
	// incapable is why nothing can be changed inside containers; of start.
	incapable error
	force     atomic.Pointer[inForce]
	// connection is the one to the runtime, the last one where there is none.
	connection atomic.Pointer[plugin]
	aside      atomic.Pointer[aside] // why nothing is decided; see standsAside
	emergency  atomic.Pointer[aside] // ... because somebody asked for it; of crisis
	crisis     emergencies
	standby    atomic.Pointer[aside] // the same, where another instance has the lock
	lock       control.Lock
	known      atomic.Bool  // the node was synchronized with before
	working    atomic.Int32 // handlers whose work has not ended
	reload     sync.Mutex
	wishes     *reloads               // to load the policy anew
	tried      atomic.Pointer[string] // fingerprint of the policy files that were loaded last, good or not
	hostPaths  hostPaths
}

func newDaemon(source settings.Source, stderr *os.File) *daemon {
	d := &daemon{
		source: source, stderr: stderr, now: time.Now, configureTime: configureTime, settleTime: settleTime,
		devices: device.NewCache(device.FS{Sys: "/sys", Loop: device.NewLoops("/dev").Status}, maxDevices),
		lives:   newLives(time.Now),
		state:   newState(time.Now()), started: make(chan struct{}), rollout: new(rollout.Count),
		repeats: audit.NewRepeats(audit.RepeatsKept, audit.RepeatsEvery), wishes: newReloads(),
	}
	d.kubelet = newKubelet("/proc", func(root, evidence string) {
		d.log().WithField("evidence", evidence).Info("the kubelet's root directory is " + root)
	})
	return d
}

// start reads the settings and the policy, once. A launched plugin gets its
// text with the first connection; nothing before that needs either. Nothing
// here fails: what is wrong is in the trail and in what is decided.
func (d *daemon) start(text string) {
	d.once.Do(func() {
		d.source.Text = text
		name := d.open()
		d.standBy()
		var err error
		if d.entries, err = ledger.Open(d.settings.ContainersDir()); err != nil {
			d.log().WithError(err).Error("cannot keep what is decided of containers")
		}
		d.log().WithField("settings", name).WithField("version", version()).Info("mountward starts")
		if d.settings.Apply.Namespace {
			if d.incapable = apply.Capable("/proc"); d.incapable != nil {
				d.log().WithError(d.incapable).Error("apply.namespace is switched on")
			}
		}
		if d.settings.Host.KubeletRoot == settings.Auto {
			d.kubelet.begin()
		}
		if d.rollout, err = rollout.Open(d.settings.StateDir); err != nil {
			d.log().WithError(err).Warn("what the policy would have refused is counted anew")
		}
		d.loadPolicy()
		d.resumeEmergency()
		close(d.started)
	})
}

// open reads the settings, whose name it returns, and opens the trail.
func (d *daemon) open() (name string) {
	var err error
	if d.settings, name, err = d.source.Load(); err != nil {
		d.mistakes = errors.Join(err, fmt.Errorf("%s is read once: mend it, then restart mountward (if containerd launched it: containerd); a reload reads only the policy", name))
	}
	if err := d.openTrail(); err != nil {
		d.log().WithError(err).Error("cannot write the audit trail where the settings want it")
	}
	if err := d.watchCrashes(d.settings.CrashDir()); err != nil {
		d.log().WithError(err).Warn("a crash of mountward would leave no record")
	}
	return name
}

// fails says why the daemon ends, also where it has not got as far as its start:
// a launched one has nothing else to say it with.
func (d *daemon) fails(why error) {
	d.once.Do(func() {
		if d.open(); d.mistakes != nil {
			d.log().WithError(d.mistakes).Error("the settings have mistakes")
		}
	})
	d.log().WithError(why).Error("mountward ends; nothing is decided until containerd starts it again")
}

// openTrail opens the audit trail. A trail that cannot be opened is no reason
// to be blind or to stop: records then go to standard error, or nowhere.
func (d *daemon) openTrail() error {
	options := audit.Options{
		Journal:  d.settings.Audit.Journal,
		Spool:    d.settings.SpoolDir(),
		File:     d.settings.Audit.File,
		Fallback: audit.FallbackFile,
	}
	// As a service every line would be in the journal twice.
	if d.stderr != nil && (!options.Journal || !toJournal(d.stderr, os.Getenv("JOURNAL_STREAM"))) {
		options.Stderr = d.stderr
	}
	trail, err := audit.New(options)
	if err != nil {
		fallback := audit.Options{Stderr: d.stderr}
		if d.stderr == nil {
			fallback.Stderr = devNull{}
		}
		var fallbackErr error
		if trail, fallbackErr = audit.New(fallback); fallbackErr != nil {
			panic(fallbackErr) // a writer was given
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
// records which. Mistakes in the settings keep it out, at every reload again.
func (d *daemon) loadPolicy() {
	d.reload.Lock()
	defer d.reload.Unlock()
	current := d.force.Load()
	standby := d.standby.Load() != nil
	next := load(d.settings, d.mistakes, d.builtin(), !standby)
	d.tried.Store(&next.tried)
	d.state.judged(next.rejected)
	if standby { // the one that decides keeps it and tells of it
		if next.rejected == nil || current == nil {
			d.force.Store(&next.inForce)
		}
		return
	}
	switch {
	case next.warning == nil:
	case next.rejected != nil:
		d.log().WithError(next.warning).Warn("the copy of the last good policy cannot be used either")
	default:
		d.log().WithError(next.warning).Warn("the policy is in force, but no copy of it could be saved: if the policy file is broken or missing when mountward starts again, no last good policy can stand in for it")
	}
	if next.rejected != nil && current != nil && current.refuse == nil {
		// A bad policy never replaces a good one.
		d.recordRejected(next.rejected, *current, true)
		return
	}
	anew := d.rollout.Under(next.counted(), d.now())
	d.force.Store(&next.inForce)
	if p := d.connection.Load(); p != nil {
		p.holdsStill(&next.inForce)
		if anew {
			p.anotherPolicy()
		}
	}
	d.state.news()
	if next.rejected != nil {
		d.recordRejected(next.rejected, next.inForce, false)
		return
	}
	d.recordLoaded(next.inForce)
}

// builtin returns the built-in policy where it may stand in: no policy file is in
// force.
func (d *daemon) builtin() []byte {
	current := d.force.Load()
	if current != nil && current.refuse == nil && current.origin != policyfile.OriginBuiltIn {
		return nil
	}
	return config.Policy()
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
	d.lock.Release()
}
