//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// options are what a caller can choose.
type options struct {
	suites  string
	run     string // a regular expression for the names of the tests, "" for those that CI has time for
	full    bool   // every row of the matrix
	accel   string // of qemu
	timeout time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.suites, "suites", "trixie", "Debian releases, separated by commas")
	flag.StringVar(&o.run, "run", "", "run only the tests that match this regular expression, all on trixie and a few on others if empty")
	flag.BoolVar(&o.full, "full", false, "run every row of the matrix, not those that CI has time for")
	flag.StringVar(&o.accel, "accel", "tcg,thread=multi", "how qemu runs the machine")
	flag.DurationVar(&o.timeout, "timeout", 0, "what one machine has from power on to power off, 0 for what the rows need")
	flag.Parse()
	if o.timeout == 0 {
		o.timeout = 60 * time.Minute
		if o.full {
			o.timeout = 2 * time.Hour
		}
	}

	// The kernel sends the parent death signal of our children when the thread
	// that made them ends: all are made by this one, which lives as long as we.
	runtime.LockOSThread()
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	err := o.all(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "node:", err)
		os.Exit(1)
	}
}

// all runs every suite, also after one that failed.
func (o *options) all(ctx context.Context) error {
	if os.Geteuid() != 0 {
		return errors.New("needs root: for the file owners of the image")
	}
	suites := strings.Split(o.suites, ",")
	for _, suite := range suites {
		if !slices.Contains(releases(), suite) {
			return fmt.Errorf("suite %q: want one of %q", suite, releases())
		}
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	cache, err := openCache(filepath.Join(here, "cache"))
	if err != nil {
		return err
	}
	defer cache.close()
	var errs []error
	for _, suite := range suites {
		if ctx.Err() != nil {
			break
		}
		if err := o.one(ctx, cache, suite); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", suite, err))
		}
	}
	return errors.Join(append(errs, context.Cause(ctx))...)
}

// tests are those to run in a suite. All are for the newer release; the older
// one is for the older kernel and the older systemd under the guard.
func (o *options) tests(suite string) string {
	if o.run != "" || o.full || suite == "trixie" {
		return o.run
	}
	return "^(TestBoot|TestMachine|TestGuard|TestGuardInside)$"
}

// one runs the tests in a machine of one suite.
func (o *options) one(ctx context.Context, cache *cache, suite string) (err error) {
	work, err := cache.workDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()

	n := &node{suite: suite, run: o.tests(suite), full: o.full, timeout: o.timeout, work: work, results: cache.results(suite)}
	var base string
	return phases(ctx,
		phase{suite + ": base image (about 2 min the first time)", func() (err error) {
			base, err = cache.base(ctx, suite, work)
			return err
		}},
		phase{suite + ": programs (about 2 min the first time)", func() error { return n.build(ctx) }},
		phase{suite + ": disk", func() error { return n.makeDisk(ctx, base) }},
		phase{suite + ": machine", func() error { return n.boot(ctx, o.accel) }},
	)
}

// phase is a step that takes long.
type phase struct {
	name string
	do   func() error
}

// phases does one after the other up to the first error, and prints how long
// each took.
func phases(ctx context.Context, all ...phase) error {
	for _, p := range all {
		fmt.Printf("== %s\n", p.name)
		start := time.Now()
		err := p.do()
		took := time.Since(start).Round(100 * time.Millisecond)
		if err != nil {
			fmt.Printf("== %s: failed, %s\n", p.name, took)
			return errors.Join(err, context.Cause(ctx))
		}
		fmt.Printf("== %s: ok, %s\n", p.name, took)
	}
	return nil
}
