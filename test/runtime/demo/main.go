//go:build linux

// Command demo shows mountward's main job on one screen, with a real containerd
// and real containers: what is broken without it, what a policy changes, and
// the kernel's own lines that prove it. It exits with 1 when something that it
// shows does not hold. "make demo" runs it.
//
// All it makes is in namespaces of its own and gone when it ends, however it
// ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

func main() {
	mode := flag.String("mode", "enforce", `"audit" runs the same policy without its effect: steps must fail`)
	flag.Parse()
	if *mode != "enforce" && *mode != "audit" || flag.NArg() != 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*mode); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// errFailed says that the screen has the reason.
var errFailed = errors.New("not everything that must hold does; see FAILED above")

func run(mode string) error {
	if os.Geteuid() != 0 {
		return errors.New("needs root: it makes namespaces, mounts and containers (nothing of it reaches this machine)")
	}
	// Before the isolation, where /run is empty: what go downloads may need a
	// name server that is configured there. Inside, everything is built.
	binaries, err := build()
	if err != nil {
		return err
	}
	if err := harness.Isolate(); err != nil {
		return err
	}
	start := time.Now()
	d := &demo{screen: newScreen(os.Stdout), progress: newProgress(os.Stderr)}
	err = d.set(binaries)
	if err == nil {
		err = d.steps(context.Background(), mode)
	}
	if err != nil {
		d.failed("Every step can be done.", err.Error())
		if d.node != nil {
			fmt.Fprintf(os.Stderr, "demo: the end of containerd's log:\n%s\n", d.node.LogTail())
		}
	}
	d.progress.say("removing everything")
	err = d.close()
	d.progress.clear()
	const clean = "All pods, mounts and devices are removed. Nothing held any of them."
	if err != nil {
		d.failed(clean, err.Error())
	} else {
		d.proves(true, clean)
	}
	return d.end(time.Since(start))
}

// demo is the node and what is to be seen of it.
type demo struct {
	*screen
	progress *progress
	host     *host
	node     *harness.Node
	ward     *ward.Ward       // once mountward is installed
	agent    *harness.Sandbox // the one that follows
}

func (d *demo) steps(ctx context.Context, mode string) error {
	for _, step := range []func(context.Context) error{
		d.blind,
		func(ctx context.Context) error { return d.install(ctx, mode) },
		d.follow,
		d.refuse,
		d.driver,
		d.record,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// close removes everything, from the containers down to the disk. That it can
// all be unmounted is one more thing that must hold.
func (d *demo) close() error {
	var errs []error
	if d.node != nil {
		errs = append(errs, d.node.Stop())
	}
	if d.host != nil {
		errs = append(errs, d.host.close())
	}
	return errors.Join(errs...)
}
