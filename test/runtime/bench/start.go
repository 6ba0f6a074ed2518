//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mountward/mountward/test/runtime/ward"
)

// startPause lets the record of a start be made before the next: no node starts
// containers faster.
const startPause = 5 * time.Millisecond

// start measures StartContainer: the proof that the process is the
// container's, the comparison of twelve mounts with what was decided, and the
// map of the task. The same container is started again and again, so that what
// it leads to is cached.
func (b *bench) start(ctx context.Context, label string) error {
	s, err := b.sides()
	if err != nil {
		return err
	}
	return errors.Join(b.starts(ctx, s, label), s.stop())
}

func (b *bench) starts(ctx context.Context, s *sides, label string) (err error) {
	t := newTask(binds())
	spec, _, err := s.mountward.CreateFromSpec(ctx, t.pod, t.container.Id, "main", t.spec)
	if err != nil {
		return fmt.Errorf("create: %w", err)
	}
	process, err := startTarget(t.container.Id, spec)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, process.stop()) }()
	t.container.Pid = uint32(process.pid)
	if err := proven(ctx, s, t); err != nil {
		return err
	}
	plugin, err := pluginPID(s.mountward.Runtime)
	if err != nil {
		return err
	}
	before, err := cpu(plugin)
	if err != nil {
		return err
	}
	took := map[string]sample{}
	for i := range warmUp + b.n {
		for _, one := range s.all() {
			duration, err := timed(func() error { return one.StartContainer(ctx, t.pod, t.container) })
			if err != nil {
				return fmt.Errorf("start with plugin %s: %w", one.name, err)
			}
			time.Sleep(startPause)
			if i >= warmUp {
				took[one.name] = append(took[one.name], duration)
			}
		}
	}
	for _, one := range s.all() {
		budget := ""
		if one.name == "mountward" {
			budget = "under 1000"
		}
		b.note("start."+one.name, label, took[one.name].figures("start."+one.name+"."+label, budget))
	}
	after, err := cpu(plugin)
	if err != nil {
		return err
	}
	figure("start.mountward."+label+".cpu", (after-before).Seconds()*1e6/float64(warmUp+b.n), "us of processor a start, record included", "")
	figure("start.added."+label, took["mountward"].median()-took["empty"].median(), "us", "")
	return nil
}

// proven starts the container once and looks whether what is to be measured
// took place: a figure of "cannot tell" would be a figure of nothing.
func proven(ctx context.Context, s *sides, t *task) error {
	if err := s.mountward.StartContainer(ctx, t.pod, t.container); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	r, err := s.ward.Await(ctx, 0, ward.Of("task", t.container.Id))
	if err != nil {
		return err
	}
	if mounts, _ := r.At("mounts").([]any); len(mounts) != len(binds()) {
		return fmt.Errorf("start: the map has %d mounts, want %d: %v", len(mounts), len(binds()), r)
	}
	all, err := s.ward.Records()
	if err != nil {
		return err
	}
	for _, r := range all {
		if r.Event() == "drift" {
			return fmt.Errorf("start: %s: %v", r.Message(), r)
		}
	}
	return nil
}

// cpu is the processor time that a process has used, to a hundredth of a second.
func cpu(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("processor time of the plugin: %w", err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var ticks int64
	for _, field := range fields[11:13] { // utime and stime, proc(5)
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("processor time of the plugin: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}
