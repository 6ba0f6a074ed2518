//go:build linux

package main

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"golang.org/x/sys/unix"
)

// killer ends and stops processes of the node at random, and brings back what
// nothing else does.
type killer struct {
	*chaos
	rng   *rand.Rand
	ways  []way
	pause time.Duration // the longest one between two kills
	seen  int64         // the progress at the last kill
}

// recoverTime is how long the killer waits for a container to be started.
const recoverTime = time.Minute

// way is one thing that can happen.
type way struct {
	weight int
	do     func(*killer) error
}

// servicePlugin are the ways of a node where systemd keeps the plugin.
func servicePlugin() []way {
	return []way{
		{50, (*killer).killService},
		{25, (*killer).killRuntime},
		{15, (*killer).killBoth},
		{10, (*killer).stallService},
	}
}

// launchedPlugin are the ways of a node where containerd launches the plugin,
// once: one that was killed comes back with the next containerd.
func launchedPlugin() []way {
	return []way{
		{60, (*killer).killRuntime},
		{40, (*killer).killLaunched},
	}
}

// runtimeOnly leaves the plugin alive.
func runtimeOnly() []way { return []way{{1, (*killer).killRuntime}} }

// run kills until the context ends. Then containerd is up.
func (k *killer) run(ctx context.Context) error {
	sum := 0
	for _, w := range k.ways {
		sum += w.weight
	}
	for k.wait(ctx) {
		n := k.rng.IntN(sum)
		for _, w := range k.ways {
			if n -= w.weight; n < 0 {
				if err := w.do(k); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// wait waits for the time to kill: half of the kills come some time or other,
// the others just after a container is to be created or started, or between
// the two. It returns false when it is over.
func (k *killer) wait(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(k.pause/4 + time.Duration(k.rng.Int64N(int64(3*k.pause/4)))):
	}
	// Mostly something has worked since, so that the pods get on, also where
	// the machine is slow.
	if k.rng.IntN(4) != 0 {
		for end, seen := time.Now().Add(recoverTime), k.seen; k.progress.Load() == seen && time.Now().Before(end); {
			if ctx.Err() != nil {
				return false
			}
			time.Sleep(time.Millisecond)
		}
	}
	k.seen = k.progress.Load()
	if k.rng.IntN(2) == 0 {
		return true
	}
	select {
	case <-ctx.Done():
		return false
	case what := <-k.moments:
		after := time.Duration(k.rng.Int64N(int64(8 * time.Millisecond)))
		time.Sleep(after)
		k.history.note("", "%s after %s", after, what)
		return true
	case <-time.After(k.pause):
		return true
	}
}

// some is a time to wait up to a limit.
func (k *killer) some(limit time.Duration) { time.Sleep(time.Duration(k.rng.Int64N(int64(limit)))) }

func (k *killer) killService() error {
	if k.service.signal(unix.SIGKILL, true) {
		k.killed("the plugin")
	}
	return nil
}

func (k *killer) killed(what string) {
	k.count("kills", 1)
	k.history.note("", "kill -9 of %s", what)
}

// killRuntime kills containerd and starts it again some time later, now and
// then while it is just starting.
func (k *killer) killRuntime() error {
	for {
		if err := k.node.Kill9(); err != nil {
			return err
		}
		k.killed("containerd")
		k.some(200 * time.Millisecond)
		if err := k.node.Relaunch(); err != nil {
			return err
		}
		k.history.note("", "containerd starts")
		if k.rng.IntN(4) != 0 {
			break
		}
		k.some(100 * time.Millisecond)
	}
	if err := k.node.WaitReady(); err != nil {
		return err
	}
	k.history.note("", "containerd answers")
	return nil
}

func (k *killer) killBoth() error {
	if k.rng.IntN(2) == 0 {
		if err := k.killService(); err != nil {
			return err
		}
		return k.killRuntime()
	}
	if err := k.node.Kill9(); err != nil {
		return err
	}
	k.killed("containerd")
	if err := k.killService(); err != nil {
		return err
	}
	return k.killRuntime() // what is dead already does not mind
}

// answerTime is how long after a stop its late answers still arrive.
const answerTime = 5 * time.Second

// stallService stops the plugin for longer or shorter than a request may take.
func (k *killer) stallService() error {
	if !k.service.signal(unix.SIGSTOP, false) {
		return nil
	}
	k.count("stalls", 1)
	k.history.note("", "the plugin is stopped")
	k.stalled.Store(math.MaxInt64)
	k.some(3 * time.Second)
	k.service.signal(unix.SIGCONT, false)
	k.stalled.Store(time.Now().Add(answerTime).UnixNano())
	k.history.note("", "the plugin goes on")
	return nil
}

func (k *killer) killLaunched() error {
	pid, err := k.ward.PluginPID()
	if err != nil {
		return nil // it is just starting
	}
	if unix.Kill(pid, unix.SIGKILL) == nil {
		k.killed("the launched plugin")
	}
	k.some(500 * time.Millisecond)
	return k.killRuntime()
}
