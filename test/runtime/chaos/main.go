//go:build linux

// Command chaos shows that a node where mountward enforces a policy never runs
// a container with more mount propagation than that allows, whatever dies: on a
// real containerd it creates and removes pods while the plugin and containerd
// are killed at random, and judges every container by the mount table that the
// container itself saw when its own code began to run. Then it changes the host
// between creation and start of containers that must all start. It prints
// figures, and exits with 1 when one that must be 0 is not. "make chaos" runs
// it.
//
// All it makes is in namespaces of its own and gone when it ends, however it
// ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/mountward/mountward/test/runtime/harness"
)

func main() {
	var o options
	flag.IntVar(&o.pods, "pods", 500, "pods to run while something is killed")
	flag.IntVar(&o.starts, "starts", 1000, "containers to start while the host changes")
	flag.IntVar(&o.workers, "workers", 6, "pods at one time")
	flag.Uint64Var(&o.seed, "seed", 0, "repeats the choices of an earlier run, though not its times; 0 takes a new one")
	flag.StringVar(&o.mode, "mode", "enforce", `"audit" runs the same policy without its effect: figures must not be 0`)
	flag.BoolVar(&o.open, "open", false, "does not have containerd require the plugin: figures must not be 0")
	flag.Parse()
	if o.mode != "enforce" && o.mode != "audit" || flag.NArg() != 0 {
		flag.Usage()
		os.Exit(2)
	}
	if o.seed == 0 {
		o.seed = rand.Uint64()
	}
	if err := isolated(o); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func isolated(o options) error {
	if os.Geteuid() != 0 {
		return errors.New("needs root: it makes namespaces, mounts and containers (nothing of it reaches this machine)")
	}
	// Before the isolation, where /run is empty: what go downloads may need a
	// name server that is configured there.
	if !harness.Isolated() {
		if _, err := harness.Build(os.Stderr); err != nil {
			return err
		}
	}
	if err := harness.Isolate(); err != nil {
		return err
	}
	dir := filepath.Join(os.TempDir(), "chaos")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	c, err := run(context.Background(), dir, os.Stderr, o)
	c.print(os.Stdout)
	if err != nil {
		return err
	}
	if wrong := c.wrong(); len(wrong) > 0 {
		return fmt.Errorf("what must be 0 is not, with seed %d: %q", o.seed, wrong)
	}
	return nil
}
