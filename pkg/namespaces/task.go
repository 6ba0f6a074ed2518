package namespaces

import (
	"context"
	"errors"
	"io/fs"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// Task is a container as the runtime's bundle tells it.
type Task struct {
	Container facts.Container
	Sandbox   bool
	Bundle    hostview.Bundle
	Spec      hostview.Spec
	PID       int // that the runtime wrote down; 0: none. The number can be another's by now
}

// Bundles is what listing tasks needs of a host view.
type Bundles interface {
	Bundles(ctx context.Context, state string) ([]hostview.Bundle, error)
	Spec(ctx context.Context, b hostview.Bundle) (hostview.Spec, error)
	InitPID(ctx context.Context, b hostview.Bundle) (int, error)
}

// Tasks lists the containers below the state directories of containerd. A
// container that is made or removed meanwhile can be missing.
func Tasks(ctx context.Context, host Bundles, states []string) ([]Task, []Unknown) {
	var all []Task
	var unknown []Unknown
	for _, state := range states {
		bundles, err := host.Bundles(ctx, state)
		if err != nil && !isAbsent(err) {
			unknown = append(unknown, Unknown{What: "containers below " + state, Why: err.Error()})
		}
		for _, b := range bundles {
			t := Task{Container: facts.Container{ID: b.ID()}, Bundle: b}
			spec, err := host.Spec(ctx, b)
			pid, pidErr := host.InitPID(ctx, b)
			if errors.Is(err, fs.ErrNotExist) && errors.Is(pidErr, fs.ErrNotExist) {
				continue // removed since it was listed
			}
			if err != nil {
				unknown = append(unknown, Unknown{What: "container " + b.ID(), Why: err.Error()})
			} else {
				t.Spec, t.Container, t.Sandbox = spec, spec.Container(b), spec.Sandbox()
			}
			if pidErr != nil && !errors.Is(pidErr, fs.ErrNotExist) {
				unknown = append(unknown, Unknown{What: "process of container " + b.ID(), Why: pidErr.Error()})
			}
			t.PID = pid
			all = append(all, t)
		}
	}
	return all, unknown
}

// isAbsent reports that nothing but that a directory is not there is told: a
// joined error can say that of one thing and worse of another.
func isAbsent(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			if !isAbsent(e) {
				return false
			}
		}
		return true
	}
	return errors.Is(err, fs.ErrNotExist)
}
