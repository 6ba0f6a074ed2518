package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/exposure"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/target"
	"github.com/mountward/mountward/pkg/volumes"
)

// find looks at the node.
func (o *exposureOptions) find(ctx context.Context, n *node, args []string, at step) (x exposed, err error) {
	if len(args) == 1 {
		at("what was asked for")
		if x.targets, err = n.resolve(ctx, args[0]); err != nil {
			return x, &exit{ExitCannotTell, errors.New(show.Line(err.Error()))}
		}
	}
	crowd, err := n.crowd(ctx, at)
	if err != nil {
		return x, err
	}
	root := n.kubelet.root
	if at, err := n.view.Lookup(ctx, root); err == nil {
		root = at.Canonical // as the tables have it
	}
	node := exposure.Node{
		Proc: n.proc, Census: crowd.census, Namespaces: crowd.census.Namespaces, Tasks: crowd.tasks, Host: crowd.host,
		KubeletRoot: root, Unknown: slices.Concat(crowd.unknown, crowd.census.Unknown),
		Upper: exposure.Uppers(n.proc, n.view, fileWait), Differ: exposure.Sizes(n.view),
	}
	x.shown = show.ExposedNode{
		Node: n.shown(), MountNamespaces: crowd.host,
		Hostname: n.sysctl("hostname"), BootID: n.sysctl("random/boot_id"),
	}
	x.searched = show.Searched{Rung: crowd.census.Rung, Containers: len(crowd.tasks)}
	at("the mount tables")
	if o.writers {
		x.writers = exposure.Writers(ctx, node, x.targets)
	} else {
		x.report = exposure.Find(ctx, node, x.targets)
	}
	return x, nil
}

// resolve finds what a name of the command line means.
func (n *node) resolve(ctx context.Context, arg string) ([]target.Target, error) {
	if strings.HasPrefix(arg, ".") {
		var err error
		if arg, err = absolute(arg); err != nil {
			return nil, err
		}
	}
	containers := func(ctx context.Context) volumes.Survey {
		s := n.survey(ctx)
		s.Unknown = ofContainers(s.Unknown)
		return s
	}
	return target.Resolve(ctx, target.Node{
		Proc: n.proc, Sys: n.sys, KubeletRoot: n.kubelet.root, Host: n.view, Devices: n.devices, Survey: containers,
	}, arg)
}

// hostNamespaces are the mount namespaces of the node itself: that of the view,
// those of other runtimes, and that of process 1.
func (n *node) hostNamespaces(census *namespaces.Census) ([]uint64, error) {
	runtimes, err := hostview.Runtimes(n.proc)
	var all []uint64
	add := func(inode uint64) {
		if inode != 0 && !slices.Contains(all, inode) {
			all = append(all, inode)
		}
	}
	ours, ok := census.Of(os.Getpid())
	if ok && (len(runtimes) == 0 || slices.ContainsFunc(runtimes, func(r hostview.Runtime) bool { return r.Namespace == ours.Inode })) {
		add(ours.Inode)
	}
	for _, r := range runtimes {
		add(r.Namespace)
	}
	if first, ok := census.Of(1); ok {
		add(first.Inode)
	}
	if len(all) == 0 && err == nil {
		err = errors.New("neither the runtime's nor that of process 1 can be read")
	}
	return all, err
}

// sysctl reads a value of the kernel, "" where that cannot be read.
func (n *node) sysctl(name string) string {
	text, err := os.ReadFile(filepath.Join(n.proc, "sys", "kernel", name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
