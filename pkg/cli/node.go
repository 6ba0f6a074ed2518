package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/discover"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/strict"
	"github.com/mountward/mountward/pkg/internal/wait"
	"github.com/mountward/mountward/pkg/settings"
	"github.com/mountward/mountward/pkg/volumes"
)

// machine is where the kernel's interfaces are, and how long a verb may take
// that looks at them.
type machine struct {
	proc, sys, dev string
	most           time.Duration
}

func thisMachine() machine {
	return machine{proc: "/proc", sys: "/sys", dev: "/dev", most: surveyTime}
}

// nodeOptions are the flags of the verbs that look at the node.
type nodeOptions struct {
	config string
	states []string
}

func (o *nodeOptions) flags(c *cobra.Command) {
	configFlag(c, &o.config)
	c.Flags().StringArrayVar(&o.states, "state", nil, "state `directory` of containerd, repeatable (default: those of the running shims, and the usual ones)")
}

// node is what the verbs look at: the host view and what else is found out of
// a node before its containers are asked about.
type node struct {
	machine
	settings settings.Settings
	view     *hostview.View
	devices  *device.Cache
	kubelet  kubelet
	states   []string
	// statesWhy says why containers can run below other directories.
	statesWhy string
	unknown   []volumes.Unknown
}

// devicesKept bounds the cache of devices: a node has some thousand.
const devicesKept = 1 << 16

// settingsWait is how long the settings are waited for.
const settingsWait = 5 * time.Second

// load reads the settings. Mistakes in them are a warning: a verb that only
// reads goes on with what could be read of them. A file that was asked for must
// be there.
func (o nodeOptions) load(c *cobra.Command) (settings.Settings, error) {
	source := settings.Source{Path: o.config, Explicit: c.Flags().Changed("config")}
	s, err := wait.For(c.Context(), settingsWait, func() (settings.Settings, error) {
		s, _, err := source.Load()
		return s, err
	}, nil)
	var mistakes strict.Errors
	switch {
	case err == nil:
	case errors.Is(err, wait.ErrNoAnswer):
		return s, &exit{ExitCannotTell, fmt.Errorf("settings %s: %w", show.Word(o.config), err)}
	case source.Explicit && !errors.As(err, &mistakes):
		return s, &exit{ExitCannotTell, err}
	default:
		warn(c.ErrOrStderr(), err.Error())
	}
	return s, nil
}

// open opens the node.
func (o nodeOptions) open(ctx context.Context, m machine, s settings.Settings, at step) (*node, error) {
	n := &node{machine: m, settings: s}
	var err error
	at("the working directory")
	for i, state := range o.states {
		if o.states[i], err = absolute(state); err != nil {
			return nil, err
		}
	}
	at("the running shims")
	shims := n.shims(o.states)
	at("the host's mounts")
	if n.view, err = hostview.Open(hostview.Options{Proc: m.proc, PID: shims.pid, Wait: fileWait}); err != nil {
		return nil, err
	}
	n.findStates(ctx, o.states, shims)
	loops := device.NewLoops(m.dev)
	n.devices = device.NewCache(device.FS{Sys: m.sys, Loop: loops.Status}, devicesKept)
	at("the kubelet")
	n.kubelet = n.findKubelet()
	return n, nil
}

func (n *node) close() { _ = n.view.Close() } // nothing was written

// surveyTime bounds the whole but its output: a verb must end on the sickest
// node.
const surveyTime = time.Minute

// survey looks at all containers of the node. Where there is no containerd there
// is nothing to tell, and nothing that cannot be told.
func (n *node) survey(ctx context.Context) volumes.Survey {
	if len(n.states) == 0 {
		return volumes.Survey{Unknown: n.unknown}
	}
	decided, why := n.decided(ctx)
	s := volumes.Node{
		View: n.view, Devices: n.devices, KubeletRoot: n.kubelet.root, RuntimeRoot: n.runtimeRoot(),
		States: n.states, StatesWhy: n.statesWhy, Decided: decided, DecidedWhy: why,
	}.Survey(ctx)
	s.Unknown = slices.Concat(n.unknown, s.Unknown)
	return s
}

// shown is what is printed of the node.
func (n *node) shown() show.Node {
	s := show.Node{
		KubeletRoot: n.kubelet.root, KubeletEvidence: n.kubelet.evidence,
		States: n.states, Rung: n.view.Rung(),
	}
	if release, err := os.ReadFile(filepath.Join(n.proc, "sys", "kernel", "osrelease")); err == nil {
		s.Kernel = strings.TrimSpace(string(release))
	}
	return s
}

// searched says where containers were looked for.
func (n *node) searched() string {
	if len(n.states) == 0 {
		return "no state directory of containerd was found (--state names one)"
	}
	var words []string
	for _, state := range n.states {
		words = append(words, show.Word(state))
	}
	return "searched below " + strings.Join(words, ", ")
}

// warn tells of something that is no reason to stop.
func warn(w io.Writer, text string) { fmt.Fprintf(w, "mountward: warning: %s\n", text) }

// hint tells what to do.
func hint(w io.Writer, text string) { fmt.Fprintf(w, "hint: %s\n", text) }

// kubelet is the kubelet's root directory and how it was found.
type kubelet struct{ root, evidence string }

// fileWait is how long a file system is waited for. No container waits meanwhile.
const fileWait = time.Second

// kubeletWait bounds the search for the kubelet's process, which can hang.
const kubeletWait = 2 * time.Second

func (n *node) findKubelet() kubelet {
	if root := n.settings.Host.KubeletRoot; root != settings.Auto {
		return kubelet{root, "settings"}
	}
	k, err := wait.For(context.Background(), kubeletWait, func() (kubelet, error) {
		root, evidence, _ := discover.KubeletRoot(n.proc)
		return kubelet{root, evidence}, nil
	}, nil)
	if err != nil {
		return kubelet{discover.DefaultKubeletRoot, "default; the search for its process does not end"}
	}
	return k
}
