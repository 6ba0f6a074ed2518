package doctor

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mountward/mountward/pkg/discover"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/shell"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/runtimeconf"
)

// pluginBase is the name that mountward has as a plugin.
const pluginBase = "mountward"

// The ways in which a daemon of mountward can run.
const (
	byContainerd = "launched by containerd"
	byService    = "as a service"
	byContainer  = "in a container"
	byHand       = "by hand"
)

// daemon is a process of mountward that is a plugin.
type daemon struct {
	namespaces.Process
	how string
}

func (d daemon) String() string { return fmt.Sprintf("process %d (%s)", d.PID, d.how) }

func (d daemon) evidence() Evidence {
	text := fmt.Sprintf("pid %d, parent %d, %s", d.PID, d.Parent, cmp.Or(d.Owner.Cgroup, d.Owner.Unit, "cgroup not known"))
	return Evidence{Text: text, Show: fmt.Sprintf("cat /proc/%d/cmdline /proc/%[1]d/cgroup", d.PID)}
}

// daemons returns the plugins of mountward that run, and why others cannot be
// told of. Another verb, such as doctor, is a process of that name too.
func (s *Snapshot) daemons() (all []daemon, why string) {
	if s.Census == nil {
		return nil, "the processes could not be listed"
	}
	for _, p := range s.Census.Processes {
		if p.Thread != 0 || p.Comm != pluginBase && !strings.HasSuffix(p.Comm, "-"+pluginBase) {
			continue
		}
		args, err := discover.CommandLine(s.Context, s.Proc, p.PID, time.Second)
		switch {
		case os.IsNotExist(err) || err == nil && len(args) == 0:
			continue // it ended
		case err != nil:
			why = err.Error()
			continue
		}
		launched := s.Runtime.PID != 0 && p.Parent == s.Runtime.PID
		if !launched && !slices.Contains(args[1:], "run") {
			continue
		}
		d := daemon{p, byHand}
		switch {
		case p.Owner.ContainerID != "":
			d.how = byContainer
		case launched:
			d.how = byContainerd
		case strings.HasSuffix(p.Owner.Unit, ".service"):
			d.how = byService
		}
		all = append(all, d)
	}
	return all, why
}

// installed returns by what it is known that mountward is meant to be a plugin
// on this node, "" where it is not.
func (r *containerd) installed() string {
	if len(r.running) > 0 {
		return r.running[0].String()
	}
	for _, p := range r.dir.entries {
		if p.base == pluginBase {
			return p.path
		}
	}
	if required(r.config.NRI.Validator.RequiredPlugins.Value) && r.config.NRI.Validator.Enable.Value {
		return "required_plugins at " + r.config.NRI.Validator.RequiredPlugins.At.String()
	}
	const wanted = "/etc/systemd/system/containerd.service.wants/mountward.service"
	if r.Files != nil {
		if _, err := r.Files.Canonical(r.Context, wanted); err == nil {
			return wanted
		}
	}
	return ""
}

// required reports whether a list names mountward, by name or index-name.
func required(list []string) bool { return runtimeconf.Names(list, pluginBase) }

// twice finds more than one mountward: each judges every container.
func (r *containerd) twice() []Finding {
	f := Finding{
		Code: codePluginDuplicate, Answer: facts.No, Subject: pluginBase,
		Effect: "each changes and records every container; two versions or two policies fail each other's containers",
	}
	var entries []string
	for _, p := range r.dir.launched() {
		if p.base == pluginBase && !p.dangling {
			entries = append(entries, p.path)
			f.Evidence = append(f.Evidence, Evidence{Text: p.path + ": " + p.launched.Why, Show: "ls -l " + shell.Quote(p.path)})
		}
	}
	var others []string
	launchedRuns := false
	for _, one := range r.running {
		launchedRuns = launchedRuns || one.how == byContainerd
		if one.how != byContainerd {
			others = append(others, one.String())
		}
		f.Evidence = append(f.Evidence, one.evidence())
	}
	switch {
	case len(entries) > 1:
		f.Message = "containerd launches mountward more than once: " + shorten(entries)
		for _, path := range entries[1:] {
			f.Fixes = append(f.Fixes, Fix{What: "keep one", Commands: []string{away(path)}, Persistent: true})
		}
	case len(entries) == 1 && len(others) > 0:
		f.Message = "mountward is launched by containerd (" + entries[0] + ") and runs " + shorten(others) + " at once"
		f.Fixes = []Fix{{What: "keep the service; containerd launches no other from its next start on", Commands: []string{away(entries[0])}, Persistent: true}}
	case len(others) > 1:
		f.Message = "mountward runs more than once: " + shorten(others)
		f.Fixes = []Fix{{What: "stop all but one, by the process ids"}}
	case launchedRuns && len(others) > 0:
		f.Message = "mountward runs " + shorten(others) + " beside the one that containerd launched and that still runs"
		f.Fixes = []Fix{r.restarting(Fix{What: "restart containerd, which ends the one it launched"})}
	default:
		return nil
	}
	return []Finding{f}
}
