//go:build linux

// Command bench prints figures of a policy's decision, of the map, of one task
// and of a node with many tasks and mounts, of doctor on that node, and of pins on
// one with many mount namespaces, each of these beside what a person has without
// mountward, measured in the same run. It asserts nothing; what counts are the
// ratios.
//
// It needs root, mkfs.ext4 and, for one figure, fuser, and runs in mount and pid
// namespaces of its own, where /var/lib and /run are empty. The verbs are those
// of the built binary: $MOUNTWARD or bin/mountward.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

const (
	isolatedVariable = "MOUNTWARD_BENCH_ISOLATED" // a stage
	taskVariable     = "MOUNTWARD_BENCH_TASK"
)

// The stages, each of which runs on a node of its own.
const (
	stageMap  = "map"
	stagePins = "pins"
)

func main() {
	if dir := os.Getenv(taskVariable); dir != "" {
		end(becomeTask(dir))
	}
	if os.Getenv(meterVariable) != "" {
		end(becomeMeter(os.Args[1:]))
	}
	if how := os.Getenv(holderVariable); how != "" {
		end(becomeHolder(how))
	}
	tasks := flag.Int("tasks", 500, "tasks of the node")
	mounts := flag.Int("mounts", 50_000, "mounts of the node")
	rounds := flag.Int("rounds", 1000, "measured maps of one task")
	spaces := flag.Int("namespaces", 500, "mount namespaces of the node of pins")
	flag.Parse()
	switch os.Getenv(isolatedVariable) {
	case stageMap:
		end(run(context.Background(), *tasks, *mounts, *rounds))
	case stagePins:
		end(runPins(*spaces))
	default:
		if err := decide(*rounds); err != nil {
			end(err)
		}
		if err := isolate(stageMap); err != nil {
			end(err)
		}
		end(isolate(stagePins))
	}
}

func end(err error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		os.Exit(0)
	case errors.As(err, &exit): // it has said why
	default:
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	os.Exit(1)
}

// isolate runs the program again where nothing it mounts or starts outlives it.
func isolate(stage string) error {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), isolatedVariable+"="+stage)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL,
	}
	return cmd.Run()
}

func run(ctx context.Context, tasks, mounts, rounds int) (err error) {
	h, err := newHost()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	fmt.Fprintf(os.Stderr, "making %d tasks and %d mounts\n", tasks, mounts)
	for i := range tasks {
		if err := h.startTask(i); err != nil {
			return fmt.Errorf("task %d: %w", i, err)
		}
	}
	if err := h.fill(mounts); err != nil {
		return err
	}
	b, err := newBench(h)
	if err != nil {
		return err
	}
	defer b.view.Close()
	if err := b.one(ctx, rounds); err != nil {
		return err
	}
	if err := b.node(ctx); err != nil {
		return err
	}
	return doctorOn(mounts)
}
