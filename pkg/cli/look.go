package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/namespaces"
)

// looked is what a verb has found out of a node before it prints anything. Who
// has it closes the node.
type looked[T any] struct {
	node  *node
	found T
}

// look opens the node and lets a verb look at it, both together in a time that
// ends.
func look[T any](c *cobra.Command, o nodeOptions, m machine, work func(context.Context, *node, step) (T, error)) (looked[T], error) {
	s, err := o.load(c)
	if err != nil {
		return looked[T]{}, err
	}
	return bounded(c.Context(), m.most, func(ctx context.Context, at step) (looked[T], error) {
		n, err := o.open(ctx, m, s, at)
		if err != nil {
			return looked[T]{}, &exit{ExitCannotTell, err}
		}
		found, err := work(ctx, n, at)
		if err != nil {
			n.close()
			return looked[T]{}, err
		}
		return looked[T]{n, found}, nil
	})
}

// crowd is who is on a node.
type crowd struct {
	tasks  []namespaces.Task
	census *namespaces.Census
	// host are the mount namespaces of the node itself, the runtime's first.
	host []uint64
	// tasksUnknown is what could not be read of the containers, and unknown that
	// and all else but what the census itself says.
	tasksUnknown []namespaces.Unknown
	unknown      []namespaces.Unknown
}

// crowd lists the containers and the mount namespaces.
func (n *node) crowd(ctx context.Context, at step) (c crowd, err error) {
	at("the containers")
	c.tasks, c.tasksUnknown = namespaces.Tasks(ctx, n.view, n.states)
	at("the mount namespaces")
	if c.census, err = namespaces.Take(ctx, namespaces.Options{Proc: n.proc, Tasks: c.tasks}); err != nil {
		return c, &exit{ExitCannotTell, err}
	}
	if c.host, err = n.hostNamespaces(c.census); err != nil {
		c.unknown = append(c.unknown, namespaces.Unknown{What: "the node's mount namespaces", Why: err.Error()})
	}
	c.unknown = append(c.unknown, ofContainers(n.unknown)...)
	c.unknown = append(c.unknown, c.tasksUnknown...)
	return c, nil
}
