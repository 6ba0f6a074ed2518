package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/mountward/mountward/pkg/control"
	"github.com/mountward/mountward/pkg/discover"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/runtimeconf"
	"github.com/mountward/mountward/pkg/settings"
)

// pluginBase is the name that containerd's configuration has for mountward.
const pluginBase = "mountward"

// configured returns the parts of failing closed that are in containerd's
// configuration, as its files are now: containerd reads them when it starts. pid
// is the runtime that the daemon is connected to, 0 where it is to none.
func (m machine) configured(ctx context.Context, s settings.Settings, pid int) []control.Part {
	c, err := bounded(ctx, m.most, func(ctx context.Context, at step) (*runtimeconf.Config, error) {
		at("containerd's configuration")
		return m.runtimeConfig(ctx, s, pid)
	})
	var required, untolerated facts.Answer
	if err != nil {
		required = facts.CannotTell(err.Error())
		untolerated = required
	} else {
		required, untolerated = c.Required(pluginBase), c.Untolerated()
	}
	return []control.Part{{Name: control.PartRequired, Answer: required}, {Name: control.PartToleration, Answer: untolerated}}
}

// runtimeConfig finds the containerd of the node and reads its configuration, in
// its own mount namespace.
func (m machine) runtimeConfig(ctx context.Context, s settings.Settings, pid int) (*runtimeconf.Config, error) {
	var views []*hostview.View
	defer func() {
		for _, v := range views {
			_ = v.Close() // nothing was written
		}
	}()
	open := func(pid int) (*hostview.View, error) {
		v, err := hostview.Open(hostview.Options{Proc: m.proc, PID: pid, Wait: fileWait})
		if err == nil {
			views = append(views, v)
		}
		return v, err
	}
	auto := func(path string) string {
		if path == settings.Auto {
			return ""
		}
		return path
	}
	_, r := discover.Find(ctx, discover.Node{
		Proc: m.proc, User: os.Geteuid(),
		Files: func(pid int) (discover.Files, error) { return open(pid) },
		Table: func(pid int) (*hostview.Table, error) {
			v, err := open(pid)
			if err != nil {
				return nil, err
			}
			return v.Table(ctx)
		},
	}, discover.Settings{RuntimeRoot: auto(s.Host.RuntimeRoot), RuntimeState: auto(s.Host.RuntimeState), KubeletRoot: auto(s.Host.KubeletRoot)})
	switch {
	case r.Name != "" && r.Name != discover.Containerd:
		return nil, fmt.Errorf("the runtime is %s", r.Name)
	case r.PID == 0:
		return nil, errors.New(strings.TrimSuffix("no containerd was found to run: "+r.Why, ": "))
	case pid != 0 && pid != r.PID:
		return nil, fmt.Errorf("the daemon is connected to process %d, and the containerd that was found is process %d", pid, r.PID)
	}
	files, err := open(r.PID)
	if err != nil {
		return nil, err
	}
	path := r.Config
	if path == "" {
		path = runtimeconf.DefaultPath
	}
	return runtimeconf.Load(ctx, files, path, runtimeconf.ParseRelease(r.Version)), nil
}
