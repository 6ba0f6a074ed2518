package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/volumes"
)

// found is what a verb has found out before it prints anything.
type found struct {
	node    *node
	survey  volumes.Survey
	targets []show.Target
	absent  []string // what was asked for and is not there
}

// find looks at the node.
func (o *volumesOptions) find(ctx context.Context, n *node, at step) (found, error) {
	f := found{node: n}
	at("what was asked for")
	if err := o.targets(ctx, &f); err != nil {
		return f, err
	}
	at("the containers")
	f.survey = n.survey(ctx)
	for i := range f.targets {
		overlay(&f.targets[i], f.survey)
	}
	return f, nil
}

// targets resolves what was asked for by path or device, and makes a filter of
// it. What is not there, or only mounted any more, is no target.
func (o *volumesOptions) targets(ctx context.Context, f *found) error {
	if o.path != "" {
		t, err := f.node.path(ctx, o.path)
		if err != nil {
			code := ExitCannotTell
			if errors.Is(err, fs.ErrNotExist) {
				code = ExitNo
			}
			return &exit{code, fmt.Errorf("--path %s: %s", show.Word(o.path), why(err))}
		}
		if t.Mount != nil {
			o.filter.Path = t.Mount.Identity()
		} else {
			o.filter.Device = t.Storage.Device
		}
		f.targets = append(f.targets, t)
	}
	if o.device != "" {
		o.filter.Device = o.number
		t, err := f.node.device(o.device, o.number)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, device.ErrNotBlock) {
			f.absent = append(f.absent, fmt.Sprintf("no device of this node is %s", o.number))
		} else {
			f.targets = append(f.targets, t)
		}
	}
	if o.filter.LV != "" {
		if t, found := f.node.lv(o.filter.LV); found {
			f.targets = append(f.targets, t)
		} else {
			f.absent = append(f.absent, fmt.Sprintf("no device of the device mapper is %s, so it is not active on this node", show.Word(o.filter.LV)))
		}
	}
	return nil
}

// result is the exit code for what matches, and for what could not be read.
func (f found) result(matches, missing int, nothing string) error {
	switch {
	case missing > 0:
		return &exit{code: ExitCannotTell}
	case matches == 0:
		return &exit{ExitNo, fmt.Errorf("%s: %s", nothing, strings.Join(append(f.absent, f.node.searched()), "; "))}
	default:
		return nil
	}
}
