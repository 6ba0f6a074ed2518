package target

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// Resolve finds what a name means. MAJ:MIN is a device or superblock, and what
// begins with "/" or "." a path; a device that is gone can still be asked about
// by its number. VG/LV is a logical volume, if there is one. Any other name is a
// container, by its name or the beginning of its id, or a pod, by its name, uid
// or NAMESPACE/NAME; several can match.
//
// An error matching ErrNone says that there is nothing of that name; any other
// that it cannot be told.
func Resolve(ctx context.Context, n Node, arg string) ([]Target, error) {
	stack, err := ReadStack(n.Sys, n.Devices)
	if err != nil {
		return nil, err
	}
	r := resolver{Node: n, stack: stack}
	r.table, r.tableErr = n.Host.Table(ctx)
	stack.settle(r.table)
	t, err := r.resolve(ctx, arg)
	if err != nil {
		return nil, fmt.Errorf("find target %q: %w", arg, err)
	}
	return t, nil
}

// resolver is a node at one time.
type resolver struct {
	Node
	stack    *Stack
	table    *hostview.Table // of the host; nil where it could not be read
	tableErr error
	pools    pools
}

func (r *resolver) resolve(ctx context.Context, arg string) ([]Target, error) {
	var number facts.DeviceNumber
	switch {
	case arg == "":
		return nil, fmt.Errorf("%w: the name is empty", ErrNone)
	case number.UnmarshalText([]byte(arg)) == nil:
		return one(r.number(ctx, number))
	case strings.HasPrefix(arg, "/"):
		return one(r.path(ctx, arg))
	case strings.HasPrefix(arg, "."):
		return nil, errors.New("a relative path: make it absolute")
	}
	isVolume := strings.Contains(arg, "/")
	if isVolume {
		if lv, ok := r.lv(ctx, arg); ok {
			return []Target{lv}, nil
		}
	}
	found, err := r.named(ctx, arg)
	if isVolume && errors.Is(err, ErrNone) {
		err = fmt.Errorf("%w; and no device of the device mapper is this logical volume, so it is not active on this node", err)
	}
	return found, err
}

func one(t Target, err error) ([]Target, error) {
	if err != nil {
		return nil, err
	}
	return []Target{t}, nil
}
