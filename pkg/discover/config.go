package discover

import (
	"context"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/runtimeconf"
)

// configuration reads what a containerd was configured with, in its own mount
// namespace. why is why not all of it is known.
func (n Node) configuration(ctx context.Context, pid int, path string) (c *runtimeconf.Config, why string) {
	files, err := n.Files(max(pid, 1))
	if err != nil {
		return nil, err.Error()
	}
	// The release does not count: the keys that are asked for are in all.
	c = runtimeconf.Load(ctx, files, path, runtimeconf.Release{})
	for _, p := range c.Unread {
		if p.File != runtimeconf.DropIns && !strings.Contains(p.Message, "release is not known") {
			return nil, p.String() + ": " + p.Message
		}
	}
	return c, ""
}

// configured takes over what a configuration sets and the command line does not.
// It returns where the state directory is set, "" for nowhere.
func (d *distribution) configured(c *runtimeconf.Config, is given) (from string) {
	set := func(to *string, v runtimeconf.Value[string]) bool {
		if v.At.File == "" || !strings.HasPrefix(v.Value, "/") {
			return false
		}
		*to = v.Value
		return true
	}
	if socket := ""; !is.socket && set(&socket, c.Address) {
		d.socket = []string{socket}
	}
	if !is.root {
		set(&d.root, c.Root)
	}
	if !is.state && set(&d.state, c.State) {
		from = c.State.At.String()
	}
	return from
}

// unseen asks the configuration of a containerd that does not run, or cannot be
// seen. Where its shims run tells more about its state directory.
func (n Node) unseen(ctx context.Context, r *Runtime, d distribution) distribution {
	c, why := n.configuration(ctx, 1, d.config)
	if why != "" {
		r.Why = strings.TrimPrefix(r.Why+"; "+why, "; ")
		return d
	}
	shims := func(s Source) bool { return s.From == FromMounts }
	from := d.configured(c, given{state: slices.ContainsFunc(r.Sources, shims)})
	if from == "" {
		return d
	}
	r.Sources = slices.DeleteFunc(r.Sources, func(s Source) bool { return s.From == FromDefault })
	first := 0
	if len(r.Sources) > 0 && r.Sources[0].From == FromSettings {
		first = 1
	}
	r.Sources = slices.Insert(r.Sources, first, Source{FromConfig, d.state, from})
	return d
}
