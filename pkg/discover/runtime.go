package discover

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/hostview"
)

// instance is one containerd that runs.
type instance struct {
	process
	distribution
}

// runtime joins all sources.
func (n Node) runtime(ctx context.Context, s Settings, procs processes, k Kubelet) Runtime {
	r := Runtime{Name: Containerd, Passed: procs.passedRuntimes}
	why := slices.Clone(procs.errs)
	shims, err := hostview.Runtimes(n.Proc)
	if err != nil {
		why = append(why, err.Error())
	}
	listen, err := sockets(n.Proc)
	if err != nil {
		why = append(why, err.Error())
	}
	r.Why = strings.Join(why, "; ")
	all := instances(procs.runtimes, shims, k)
	if s.RuntimeState != "" {
		r.Sources = append(r.Sources, Source{FromSettings, s.RuntimeState, "[host] runtime_state"})
	}
	if r.other(procs.runtimes, k, len(all) > 0) {
		return r
	}
	for _, i := range all {
		r.Sources = append(r.Sources, Source{FromProcess, i.state, i.String() + " (" + i.name + ")"})
	}
	for _, socket := range listen {
		if d, ok := bySocket(socket); ok {
			r.Sources = append(r.Sources, Source{FromSocket, d.state, socket})
		}
	}
	for _, shim := range shims {
		r.Sources = append(r.Sources, Source{FromMounts, shim.State, shim.Evidence})
	}
	d := n.known(ctx, &r, all, shims)
	r.fill(d, s, all, shims)
	r.disagree(all, k)
	return r
}

// known returns the distribution that the strongest source but the settings
// tells.
func (n Node) known(ctx context.Context, r *Runtime, all []instance, shims []hostview.Runtime) distribution {
	if len(all) > 0 {
		return all[0].distribution
	}
	for _, s := range r.Sources {
		if s.From == FromSocket {
			d, _ := bySocket(s.Evidence)
			return d
		}
	}
	if len(shims) > 0 {
		return byState(shims[0].State)
	}
	if files, err := n.Files(1); err == nil {
		for _, d := range append([]distribution{standard()}, distributions()...) {
			_, err := files.Canonical(ctx, d.state)
			if err == nil && d.name != docker {
				r.Sources = append(r.Sources, Source{FromTable, d.state, "it exists"})
				return d
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) && r.Why == "" {
				r.Why = err.Error()
			}
		}
	}
	r.Sources = append(r.Sources, Source{FromDefault, standard().state, "nothing else is known"})
	return standard()
}

func (r *Runtime) fill(d distribution, s Settings, all []instance, shims []hostview.Runtime) {
	r.Chosen = r.Sources[0]
	r.State, r.Root, r.Config = r.Chosen.Value, d.root, d.config
	if s.RuntimeRoot != "" {
		r.Root = s.RuntimeRoot
	}
	if len(d.socket) > 0 {
		r.Socket = d.socket[0]
	}
	if len(all) > 0 {
		r.PID = all[0].pid
	}
	for _, shim := range shims {
		if shim.State == r.State || r.Shim == 0 {
			r.Shim = shim.Shim
		}
		if shim.State == r.State {
			break
		}
	}
}

// instances returns the containerds, the one that runs the kubelet's containers
// first: the one at its socket, then one whose shims run, then any but
// docker's.
func instances(all []process, shims []hostview.Runtime, k Kubelet) []instance {
	var found []instance
	for _, p := range all {
		if p.comm == "containerd" {
			found = append(found, instance{p, byArguments(p.args)})
		}
	}
	rank := func(i instance) int {
		switch {
		case k.Endpoint != "" && slices.Contains(i.socket, k.Endpoint):
			return 0
		case i.name == docker:
			return 3
		case slices.ContainsFunc(shims, func(r hostview.Runtime) bool { return r.State == i.state }):
			return 1
		default:
			return 2
		}
	}
	slices.SortStableFunc(found, func(a, b instance) int { return rank(a) - rank(b) })
	return found
}

// byArguments reads a command line of containerd: what its flags say wins over
// what its distribution has.
func byArguments(args []string) distribution {
	d := standard()
	for _, known := range distributions() {
		if slices.ContainsFunc(args, func(arg string) bool {
			return slices.ContainsFunc(known.marks, func(mark string) bool {
				_, value, ok := strings.Cut(arg, "=")
				return strings.HasPrefix(arg, mark) || ok && strings.HasPrefix(value, mark)
			})
		}) {
			d = known
			break
		}
	}
	rest := args[1:]
	set := func(to *string, names ...string) {
		if v := first(rest, names...); strings.HasPrefix(v, "/") {
			*to = v
		}
	}
	socket := ""
	set(&socket, "address", "a")
	if socket != "" {
		d.socket = []string{socket}
	}
	set(&d.state, "state")
	set(&d.root, "root")
	set(&d.config, "config", "c")
	return d
}

func bySocket(path string) (distribution, bool) {
	for _, d := range append([]distribution{standard()}, distributions()...) {
		if slices.Contains(d.socket, path) {
			return d, true
		}
	}
	return distribution{}, false
}

func byState(state string) distribution {
	for _, d := range append([]distribution{standard()}, distributions()...) {
		if d.state == state && d.name != "rke2" {
			return d
		}
	}
	d := standard()
	d.state, d.socket = state, nil
	return d
}

// disagree names what else could be meant.
func (r *Runtime) disagree(all []instance, k Kubelet) {
	for _, i := range all {
		if i.pid == r.PID {
			if r.State != i.state {
				r.tell("%s has %q, but %s has %q", r.Chosen.Evidence, r.State, i.process, i.state)
			}
			continue
		}
		if i.name != docker {
			r.tell("%s is another containerd (%s, state %q)", i.process, i.name, i.state)
		}
	}
	if k.Endpoint != "" && len(all) > 0 && !slices.Contains(all[0].socket, k.Endpoint) {
		r.tell("the kubelet was told %q, which is the socket of no containerd that runs", k.Endpoint)
	}
}

func (r *Runtime) tell(format string, args ...any) {
	r.Disagree = append(r.Disagree, fmt.Sprintf(format, args...))
}

// other finds the runtime of a node that does not use containerd.
func (r *Runtime) other(all []process, k Kubelet, containerd bool) bool {
	crio, dockerd, cri := find(all, "crio"), find(all, "dockerd"), find(all, "cri-dockerd")
	switch {
	case crio.pid != 0 && (!containerd || strings.Contains(k.Endpoint, "crio")):
		r.Name, r.PID, r.Socket = CRIO, crio.pid, "/run/crio/crio.sock"
		r.Sources = append(r.Sources, Source{FromProcess, CRIO, crio.String()})
	case dockerd.pid != 0 && (cri.pid != 0 && !strings.HasSuffix(k.Endpoint, "containerd.sock") || !containerd):
		r.Name, r.PID, r.Socket = Dockerd, dockerd.pid, "/run/docker.sock"
		r.Sources = append(r.Sources, Source{FromProcess, Dockerd, dockerd.String()})
	default:
		return false
	}
	r.Chosen = r.Sources[len(r.Sources)-1]
	return true
}

func find(all []process, comm string) process {
	for _, p := range all {
		if p.comm == comm {
			return p
		}
	}
	return process{}
}
