package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/containerd/containerd/v2/defaults"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/settings"
	"github.com/mountward/mountward/pkg/volumes"
)

// shims is what the running shims tell.
type shims struct {
	pid    int      // one in whose mount namespace we have to look; 0: in our own
	states []string // of those that are in that namespace
	all    []string // of all that were found
	why    string   // why these may not be all
}

// shims looks for the running shims. Where they are in several mount
// namespaces, one is looked at, ours if it is among them, and the others are
// named.
func (n *node) shims(only []string) shims {
	runtimes, err := hostview.Runtimes(n.proc)
	var s shims
	if err != nil {
		s.why = "not all running shims could be read"
		n.unknown = append(n.unknown, volumes.Unknown{What: "running shims", Why: err.Error()})
	}
	for _, r := range runtimes {
		s.all = append(s.all, r.State)
	}
	if len(only) > 0 {
		runtimes = slices.DeleteFunc(runtimes, func(r hostview.Runtime) bool {
			return !slices.ContainsFunc(only, func(state string) bool { return filepath.Clean(state) == r.State })
		})
	}
	if len(runtimes) == 0 {
		return s
	}
	ours, _ := os.Readlink(filepath.Join(n.proc, "self", "ns", "mnt")) // "": none is
	isOurs := func(r hostview.Runtime) bool { return ours == fmt.Sprintf("mnt:[%d]", r.Namespace) }
	chosen := runtimes[0]
	if i := slices.IndexFunc(runtimes, isOurs); i >= 0 {
		chosen = runtimes[i]
	} else {
		s.pid = chosen.Shim
	}
	for _, r := range runtimes {
		if r.Namespace == chosen.Namespace {
			s.states = append(s.states, r.State)
			continue
		}
		s.why = "there are containers in another mount namespace"
		n.unknown = append(n.unknown, volumes.Unknown{
			What: "containers of " + r.State,
			Why:  fmt.Sprintf("they are in another mount namespace; run: nsenter --mount --target %d mountward ...", r.Shim),
		})
	}
	return s
}

// findStates fills in the state directories to look at: those that were asked
// for, else the shims', the settings' and the usual ones that exist.
func (n *node) findStates(ctx context.Context, only []string, s shims) {
	n.statesWhy = s.why
	if len(only) > 0 {
		given := map[string]bool{}
		for _, state := range only {
			at, err := n.view.Lookup(ctx, state)
			if err != nil {
				n.unknown = append(n.unknown, volumes.Unknown{What: "state directory " + state, Why: why(err)})
				continue
			}
			given[at.Canonical] = true
			n.addState(state)
		}
		n.statesWhy = cmp.Or(n.statesWhy, others(s.all, given))
		return
	}
	for _, state := range s.states {
		n.addState(state)
	}
	if state := n.settings.Host.RuntimeState; state != settings.Auto {
		n.addState(state)
	}
	for _, state := range hostview.DefaultStates() {
		_, err := n.view.Lookup(ctx, state)
		switch {
		case err == nil:
			n.addState(state)
		case !errors.Is(err, fs.ErrNotExist):
			n.unknown = append(n.unknown, volumes.Unknown{What: "state directory " + state, Why: why(err)})
		}
	}
}

// others says that containers run below a state directory that was not given,
// "" for none.
func others(all []string, given map[string]bool) string {
	for _, state := range all {
		if !given[state] {
			return fmt.Sprintf("containers run below %s as well, which --state does not name", show.Word(state))
		}
	}
	return ""
}

func (n *node) addState(state string) {
	state = filepath.Clean(state)
	if !slices.Contains(n.states, state) {
		n.states = append(n.states, state)
	}
}

// runtimeRoot is where containerd keeps its images and snapshots. A
// distribution that has moved one directory has moved both.
func (n *node) runtimeRoot() string {
	if root := n.settings.Host.RuntimeRoot; root != settings.Auto {
		return root
	}
	moved := map[string]string{
		"/run/k3s/containerd":                      "/var/lib/rancher/k3s/agent/containerd",
		"/run/k0s/containerd":                      "/var/lib/k0s/containerd",
		"/var/snap/microk8s/common/run/containerd": "/var/snap/microk8s/common/var/lib/containerd",
	}
	for _, state := range n.states {
		if root, ok := moved[state]; ok {
			return root
		}
	}
	return defaults.DefaultRootDir
}
