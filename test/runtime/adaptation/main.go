//go:build linux

// Command adaptation is the runtime's side of NRI as a process, in the version
// of NRI that it was built with. A program has one version only, and that of
// the tests is containerd 2.4.2's; the files nri-*.mod beside this build it with
// others.
//
// It answers each line of standard input, a request, with a line of standard
// output. What is in them are NRI's own messages, as JSON.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
)

func main() {
	dir := flag.String("dir", "", "directory with plugins and conf.d, where nri.sock is made")
	version := flag.String("version", "", "containerd's, as plugins hear it")
	require := flag.String("require", "", "plugin that must be there")
	flag.Parse()
	if err := run(*dir, *version, *require); err != nil {
		fmt.Fprintln(os.Stderr, "adaptation:", err)
		os.Exit(1)
	}
}

// request is a line of standard input.
type request struct {
	Event string          `json:"event"` // "create", "start", "stop", "remove"; "" asks for Synced only
	Body  json.RawMessage `json:"body"`  // pod and container
}

// answer is a line of standard output. The first one comes unasked, once
// plugins can connect.
type answer struct {
	Error  string                   `json:"error,omitempty"`
	Adjust *api.ContainerAdjustment `json:"adjust,omitempty"`
	Synced int64                    `json:"synced"` // how often plugins were synchronized
}

func run(dir, version, require string) error {
	var synced atomic.Int64
	synchronize := func(ctx context.Context, plugins adaptation.SyncCB) error {
		_, err := plugins(ctx, nil, nil)
		synced.Add(1)
		return err
	}
	update := func(context.Context, []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) { return nil, nil }
	a, err := adaptation.New("containerd", version, synchronize, update, append(requiring(require),
		adaptation.WithSocketPath(filepath.Join(dir, "nri.sock")),
		adaptation.WithPluginPath(filepath.Join(dir, "plugins")),
		adaptation.WithPluginConfigPath(filepath.Join(dir, "conf.d")),
	)...)
	if err != nil {
		return err
	}
	if err := a.Start(); err != nil {
		return err
	}
	defer a.Stop()
	in, out := bufio.NewScanner(os.Stdin), json.NewEncoder(os.Stdout)
	in.Buffer(nil, 1<<20)
	reply := answer{}
	for {
		reply.Synced = synced.Load()
		if err := out.Encode(reply); err != nil {
			return err
		}
		if !in.Scan() {
			return in.Err()
		}
		var r request
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			return err
		}
		reply = answer{}
		if reply.Adjust, err = send(a, r); err != nil {
			reply.Error = err.Error()
		}
	}
}

// send asks all plugins, once those that connect are synchronized, as a request
// of the CRI does.
func send(a *adaptation.Adaptation, r request) (*api.ContainerAdjustment, error) {
	defer a.BlockPluginSync().Unblock()
	switch r.Event {
	case "":
		return nil, nil
	case "create":
		reply, err := call(a.CreateContainer, r.Body)
		return reply.GetAdjust(), err
	case "start":
		return nil, tell(a.StartContainer, r.Body)
	case "stop":
		_, err := call(a.StopContainer, r.Body)
		return nil, err
	case "remove":
		return nil, tell(a.RemoveContainer, r.Body)
	default:
		return nil, errors.New("unknown event " + r.Event)
	}
}

// call sends a message. Some have another type in another version of NRI, and
// the same fields.
func call[Message, Reply any](f func(context.Context, *Message) (Reply, error), body []byte) (reply Reply, err error) {
	m := new(Message)
	if err := json.Unmarshal(body, m); err != nil {
		return reply, err
	}
	return f(context.Background(), m)
}

func tell[Message any](f func(context.Context, *Message) error, body []byte) error {
	_, err := call(func(ctx context.Context, m *Message) (struct{}, error) { return struct{}{}, f(ctx, m) }, body)
	return err
}
