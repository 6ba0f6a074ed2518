//go:build linux

// Command emptyplugin is an NRI plugin that is asked about every container and
// changes none. It is the measure of what NRI itself costs, and with a file
// name as its configuration it writes there, one a line, what it was told:
// "configure <runtime> <version> <NRI version>" and
// "<event> <pod namespace>/<pod name>/<container name>".
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

// socketVariable names the socket to connect to, for a plugin that no runtime
// launched.
const socketVariable = "MOUNTWARD_RUNTIME_NRI_SOCKET"

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "emptyplugin:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	var options []stub.Option
	if os.Getenv(api.PluginIdxEnvVar) == "" {
		options = append(options, stub.WithPluginName("empty"), stub.WithPluginIdx("50"))
		if socket := os.Getenv(socketVariable); socket != "" {
			options = append(options, stub.WithSocketPath(socket))
		}
	}
	p := &plugin{}
	s, err := stub.New(p, options...)
	if err != nil {
		return fmt.Errorf("make stub: %w", err)
	}
	p.stub = s
	return s.Run(ctx)
}

// plugin answers every event with nothing.
type plugin struct {
	stub   stub.Stub
	record string
}

func (p *plugin) Configure(_ context.Context, config, runtime, version string) (api.EventMask, error) {
	p.record = config
	return 0, p.note("configure %s %s %s", runtime, version, p.stub.RuntimeNRIVersion())
}

func (p *plugin) CreateContainer(_ context.Context, pod *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	return nil, nil, p.note("create %s/%s/%s", pod.GetNamespace(), pod.GetName(), c.GetName())
}

func (p *plugin) StartContainer(_ context.Context, pod *api.PodSandbox, c *api.Container) error {
	return p.note("start %s/%s/%s", pod.GetNamespace(), pod.GetName(), c.GetName())
}

// note adds a line to the record, if there is one.
func (p *plugin) note(format string, args ...any) error {
	if p.record == "" {
		return nil
	}
	f, err := os.OpenFile(p.record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open record: %w", err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, format+"\n", args...); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}
