package discover

import (
	"context"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/hostview"
)

// instance is one containerd that runs.
type instance struct {
	process
	distribution
	given given  // by its command line: its configuration does not count for that
	from  string // where its configuration sets its state directory, "" where it does not
	why   string // why its configuration is not known
}

// given says which values a stronger source than the configuration has set.
type given struct{ socket, state, root bool }

func (n Node) instance(ctx context.Context, p process) instance {
	i := instance{process: p}
	i.distribution, i.given = byArguments(p.args)
	if c, why := n.configuration(ctx, p.pid, i.config); why != "" {
		i.why = p.String() + ": " + why
	} else {
		i.from = i.configured(c, i.given)
	}
	return i
}

// hidden reports that the socket of an instance may be another than is known.
func (i instance) hidden() bool { return i.why != "" && !i.given.socket }

func (i instance) source() Source {
	if i.from != "" {
		return Source{FromConfig, i.state, i.from + " of " + i.String() + " (" + i.name + ")"}
	}
	return Source{FromProcess, i.state, i.String() + " (" + i.name + ")"}
}

// serves reports whether the socket is one of an instance, by whatever path: in
// most systems /var/run leads to /run.
func (n Node) serves(ctx context.Context, i instance, socket string) bool {
	if socket == "" {
		return false
	}
	files, err := n.Files(i.pid)
	canonical := func(p string) string {
		if err == nil {
			if c, err := files.Canonical(ctx, p); err == nil {
				return c
			}
		}
		return p
	}
	return slices.ContainsFunc(i.socket, func(s string) bool { return s == socket || canonical(s) == canonical(socket) })
}

// instances returns the containerds, the one that runs the kubelet's containers
// first: the one at its socket, then one whose shims run, then any but
// docker's.
func (n Node) instances(ctx context.Context, all []process, shims []hostview.Runtime, k Kubelet) []instance {
	var found []instance
	for _, p := range all {
		if p.comm == "containerd" {
			found = append(found, n.instance(ctx, p))
		}
	}
	rank := func(i instance) int {
		switch {
		case n.serves(ctx, i, k.Endpoint):
			return 0
		case i.name == Docker:
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

// ConfigOf returns the configuration file of the containerd with a command line,
// which is not empty: the one that it names, else the one that its distribution
// has. A daemon that was told by the kernel which process is its runtime needs no
// search for one.
func ConfigOf(args []string) string {
	d, _ := byArguments(args)
	return d.config
}

// byArguments reads a command line of containerd: what its flags say wins over
// what its distribution has.
func byArguments(args []string) (d distribution, by given) {
	d = standard()
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
	set := func(to *string, names ...string) bool {
		v := first(rest, names...)
		is := strings.HasPrefix(v, "/")
		if is {
			*to = v
		}
		return is
	}
	socket := ""
	if by.socket = set(&socket, "address", "a"); by.socket {
		d.socket = []string{socket}
	}
	by.state = set(&d.state, "state")
	by.root = set(&d.root, "root")
	set(&d.config, "config", "c")
	return d, by
}
