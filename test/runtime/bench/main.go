//go:build linux

// Command bench prints figures of the built mountward, each beside its budget
// where it has one. It asserts nothing: a time is true of one machine at one
// moment, so what counts are ratios of what was measured side by side in one
// run.
//
// It needs root, and runs in mount and pid namespaces of its own, where
// /var/lib and /run are empty.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/mountward/mountward/test/runtime/adapt"
	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

func main() {
	if bareLaunched() {
		exit(serveBare(context.Background()))
	}
	if target() {
		exit(becomeTarget())
	}
	creations := flag.Int("creations", 1000, "measured creations and starts of each kind")
	most := flag.Int("mounts", 50_000, "the largest number of host mounts")
	flag.Parse()
	if err := harness.Isolate("/var/lib"); err != nil {
		exit(fmt.Errorf("isolate: %w", err))
	}
	exit(run(context.Background(), *creations, *most))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context, n, most int) error {
	adapt.SetLog(io.Discard)
	binaries, err := harness.Build(os.Stderr)
	if err != nil {
		return err
	}
	mountward, err := ward.Binary()
	if err != nil {
		return err
	}
	if err := binarySize(mountward); err != nil {
		return err
	}
	host, err := newHost()
	if err != nil {
		return err
	}
	if err := files(); err != nil {
		return err
	}
	b := &bench{host: host, mountward: mountward, empty: binaries.EmptyPlugin, n: n, medians: map[string]float64{}}
	for _, mounts := range []int{fewest, 10_000, 50_000} {
		if mounts > most {
			break
		}
		if err := host.fill(mounts); err != nil {
			return err
		}
		if err := b.at(ctx, mounts); err != nil {
			return fmt.Errorf("with %d host mounts: %w", mounts, err)
		}
	}
	if b.host.mounts > fewest {
		b.growth()
	}
	return nil
}

// bench is what all measurements share.
type bench struct {
	host             *host
	mountward, empty string
	n                int
	medians          map[string]float64 // by figure, for ratios between numbers of mounts
}

// at measures everything with the host mounts there are now.
func (b *bench) at(ctx context.Context, mounts int) error {
	for _, measure := range []func(context.Context, string) error{b.create, b.start, b.memory} {
		if err := measure(ctx, label(mounts)); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) note(name, label string, median float64) { b.medians[name+"."+label] = median }

// growth prints how much more one thing takes with the most host mounts than
// with the fewest. The two were measured minutes apart: in the second figure
// what the machine did meanwhile is taken out, by the empty plugin's.
func (b *bench) growth() {
	few, many := "."+label(fewest), "."+label(b.host.mounts)
	for _, name := range []string{"create.raise", "create.unaffected", "start"} {
		of := func(plugin, at string) float64 { return b.medians[name+"."+plugin+at] }
		grows, empty := of("mountward", many)/of("mountward", few), of("empty", many)/of("empty", few)
		figure(name+".growth", grows, "x", "at most 1.2")
		figure(name+".growth-over-empty", grows/empty, "x", "")
	}
}

// fewest is the smallest number of host mounts.
const fewest = 100

func label(mounts int) string { return fmt.Sprintf("mounts=%d", mounts) }
