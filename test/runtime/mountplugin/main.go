//go:build linux

// Command mountplugin is another NRI plugin, one that has mounts of its own. It
// is called with an index, a namespace, a destination, a source and options, and
// gives every container in the namespace that mount, also where a plugin before
// it has set it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "mountplugin:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	socket := flag.String("socket", api.DefaultSocketPath, "of the runtime")
	flag.Parse()
	args := flag.Args()
	if len(args) != 5 {
		return errors.New("want [-socket PATH] INDEX NAMESPACE DESTINATION SOURCE OPTION[,OPTION...]")
	}
	p := &plugin{namespace: args[1], mount: &api.Mount{
		Destination: args[2], Type: "bind", Source: args[3], Options: strings.Split(args[4], ","),
	}}
	s, err := stub.New(p, stub.WithPluginName("other"), stub.WithPluginIdx(args[0]), stub.WithSocketPath(*socket))
	if err != nil {
		return fmt.Errorf("make stub: %w", err)
	}
	return s.Run(ctx)
}

type plugin struct {
	namespace string
	mount     *api.Mount
}

// Synchronize has no work, and says when it is over.
func (p *plugin) Synchronize(context.Context, []*api.PodSandbox, []*api.Container) ([]*api.ContainerUpdate, error) {
	fmt.Println("synchronized with the runtime")
	return nil, nil
}

// CreateContainer replaces the mount of a container, or adds it.
func (p *plugin) CreateContainer(_ context.Context, pod *api.PodSandbox, _ *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	if pod.GetNamespace() != p.namespace {
		return nil, nil, nil
	}
	adjust := &api.ContainerAdjustment{}
	adjust.RemoveMount(p.mount.Destination)
	adjust.AddMount(&api.Mount{Destination: p.mount.Destination, Type: p.mount.Type, Source: p.mount.Source, Options: p.mount.Options})
	return adjust, nil, nil
}
