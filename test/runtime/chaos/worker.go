//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/mountward/mountward/test/runtime/harness"
)

const (
	// callTime bounds one call, as the kubelet does.
	callTime = 30 * time.Second
	// podTime is how long a pod may take to be had, or to be removed. On a slow
	// machine one of several workers can be out of luck for long: whenever
	// another one got on, containerd is killed again.
	podTime = 5 * time.Minute
)

// ours is how all our refusals begin.
const ours = "mountward: "

// worker runs pods one after the other as a kubelet does: what fails is tried
// again, what answers nothing is looked for.
type worker struct {
	*chaos
	rng  *rand.Rand
	last string // key of the last try

	namespace bool // some pods are in user namespaces
}

// moment tells a killer that waits for one what is to happen now.
func (w *worker) moment(what string) {
	select {
	case w.moments <- what:
	default:
	}
}

func (w *worker) some(limit time.Duration) { time.Sleep(time.Duration(w.rng.Int64N(int64(limit)))) }

// pod runs a pod and removes it.
func (w *worker) pod(ctx context.Context) {
	p := newPlan(w.rng, w.namespace)
	end := time.Now().Add(podTime)
	var sandboxes []*harness.Sandbox
	todo := p.shapes
	var last error
	for len(todo) > 0 {
		if time.Now().After(end) {
			w.fault("stuck", w.last, fmt.Sprintf("pod with %s: not to be had in %s: %v", todo[0].name, podTime, last))
			break
		}
		s, err := w.sandbox(ctx, p)
		if err != nil {
			last = err
			w.some(100 * time.Millisecond)
			continue
		}
		sandboxes = append(sandboxes, s)
		for len(todo) > 0 && time.Now().Before(end) {
			if last = w.have(ctx, s, p, todo[0], end); last != nil {
				break // the pod is gone: the rest goes into another one
			}
			todo = todo[1:]
		}
	}
	w.some(300 * time.Millisecond)
	for _, s := range sandboxes {
		w.remove(ctx, s)
	}
	w.count("pods", 1)
}

func (w *worker) sandbox(ctx context.Context, p plan) (*harness.Sandbox, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	return w.node.RunSandbox(ctx, p.pod())
}

// have tries until a container runs, or is refused as it is to be. An error says
// that the pod does not run any more.
func (w *worker) have(ctx context.Context, s *harness.Sandbox, p plan, of shape, end time.Time) error {
	for n := 0; time.Now().Before(end); n++ {
		t := &try{uid: s.Pod.UID, name: fmt.Sprintf("%s-%d-%d", of.name, len(s.Containers), n), shape: of, static: p.static, users: p.idMap()}
		t.key = t.uid + "." + t.name
		w.last = t.key
		err := w.attempt(ctx, s, t)
		w.history.add(t)
		if err == nil || t.refused != "" && of.denies() && !p.static {
			return nil
		}
		if t.refused != "" {
			w.fault("false_refusals", t.key, t.refused)
		}
		w.some(100 * time.Millisecond)
		call, cancel := context.WithTimeout(ctx, callTime)
		if t.id != "" {
			_ = w.node.RemoveContainer(call, t.id) // what this leaves goes with the pod
		}
		ready, lookErr := w.node.SandboxReady(call, s.ID)
		cancel()
		if lookErr == nil && !ready {
			return err
		}
	}
	return context.DeadlineExceeded
}

// attempt creates and starts a container.
func (w *worker) attempt(ctx context.Context, s *harness.Sandbox, t *try) error {
	if err := w.create(ctx, s, t); err != nil {
		return err
	}
	if w.rng.IntN(4) == 0 {
		w.moment("between creation and start of " + t.key)
		w.some(300 * time.Millisecond)
	}
	return w.start(ctx, t)
}

func (w *worker) create(ctx context.Context, s *harness.Sandbox, t *try) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	w.moment("creation of " + t.key)
	w.history.note(t.key, "create")
	id, err := w.node.CreateContainer(ctx, s, w.container(t.shape, t.name, t.key, t.users))
	if err == nil {
		t.id = id
		w.history.note(t.key, "created")
		return nil
	}
	w.failed(t, "create", err)
	if t.refused != "" {
		return err
	}
	// The answer may be lost and the container there.
	for range 20 {
		id, lookErr := w.node.FindContainer(ctx, s.ID, t.name)
		if lookErr == nil {
			if id == "" {
				return err
			}
			t.id = id
			w.history.note(t.key, "found, as created")
			return nil
		}
		w.some(100 * time.Millisecond)
	}
	return err
}

func (w *worker) start(ctx context.Context, t *try) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	w.moment("start of " + t.key)
	w.history.note(t.key, "start")
	err := w.node.StartContainer(ctx, t.id)
	if err == nil {
		w.progress.Add(1)
		w.history.note(t.key, "started")
		return nil
	}
	w.failed(t, "start", err)
	for range 20 {
		state, lookErr := w.node.ContainerState(ctx, t.id)
		if lookErr == nil {
			w.history.note(t.key, "found, as %s", state)
			if state == cri.ContainerState_CONTAINER_RUNNING {
				w.progress.Add(1)
				return nil
			}
			return err
		}
		w.some(100 * time.Millisecond)
	}
	return err
}

// failed notes an error, and whether it is our refusal.
func (w *worker) failed(t *try, what string, err error) {
	w.history.note(t.key, "%s: %v", what, err)
	// A plugin that is late refuses, as it is to: that says nothing about the
	// container, which is tried again. Whether we had stopped it is told apart.
	if t.refused = ourRefusal(err); strings.Contains(t.refused, "was not decided: no decision within") {
		t.refused = ""
		if time.Now().UnixNano() < w.stalled.Load() {
			w.count("overdue", 1)
		} else {
			w.count("late", 1)
		}
		return
	}
	if t.refused != "" {
		w.progress.Add(1)
		if t.shape.denies() {
			w.count("refused", 1)
		}
		return
	}
	w.count("kept_out", 1)
}

// remove removes a pod, gently or not.
func (w *worker) remove(ctx context.Context, s *harness.Sandbox) {
	end := time.Now().Add(podTime)
	gentle := w.rng.IntN(3) == 0
	for {
		err := w.removeOnce(ctx, s, gentle)
		if err == nil {
			return
		}
		if time.Now().After(end) {
			w.fault("stuck", "", fmt.Sprintf("pod %s: not to be removed in %s: %v", s.Pod.UID, podTime, err))
			return
		}
		w.some(200 * time.Millisecond)
	}
}

func (w *worker) removeOnce(ctx context.Context, s *harness.Sandbox, gentle bool) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if gentle {
		for _, id := range s.Containers {
			if err := w.node.StopContainer(ctx, id); err != nil {
				return err
			}
			if err := w.node.RemoveContainer(ctx, id); err != nil {
				return err
			}
		}
	}
	return w.node.RemoveSandbox(ctx, s.ID)
}
