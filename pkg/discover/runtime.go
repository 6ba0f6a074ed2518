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
	all := n.instances(ctx, procs.runtimes, shims, k)
	for _, i := range all {
		if i.why != "" {
			why = append(why, i.why)
		}
	}
	r.Why = strings.Join(why, "; ")
	if s.RuntimeState != "" {
		r.Sources = append(r.Sources, Source{FromSettings, s.RuntimeState, "[host] runtime_state"})
	}
	if r.other(procs.runtimes, k, len(all) > 0) {
		return r
	}
	for _, i := range all {
		r.Sources = append(r.Sources, i.source())
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
	if len(all) == 0 {
		d = n.unseen(ctx, &r, d)
	}
	r.fill(d, s, all, shims)
	r.disagree(all, func(i instance) bool { return n.serves(ctx, i, k.Endpoint) }, k)
	r.Version, r.VersionEvidence = n.version(ctx, r.PID)
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
			if err == nil && d.name != Docker {
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
	r.Distribution, r.State, r.Root, r.Config = d.name, r.Chosen.Value, d.root, d.config
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
		if d.state == state && d.name != RKE2 {
			return d
		}
	}
	d := standard()
	d.state, d.socket = state, nil
	return d
}

// disagree names what else could be meant.
func (r *Runtime) disagree(all []instance, serves func(instance) bool, k Kubelet) {
	for _, i := range all {
		if i.pid == r.PID {
			if r.State != i.state {
				r.tell("%s has %q, but %s has %q", r.Chosen.Evidence, r.State, i.process, i.state)
			}
			continue
		}
		if i.name != Docker {
			r.tell("%s is another containerd (%s, state %q)", i.process, i.name, i.state)
		}
	}
	// One whose configuration cannot be read can serve any socket.
	if k.Endpoint != "" && len(all) > 0 && !serves(all[0]) && !slices.ContainsFunc(all, instance.hidden) {
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
