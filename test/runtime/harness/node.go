//go:build linux

package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Node is a containerd with nothing around it: the part of a Kubernetes node
// below the kubelet.
type Node struct {
	Dir       string // all below here is the node's and is removed with it
	Root      string // containerd's
	State     string // containerd's
	Address   string // containerd's socket, for CRI and ctr
	NRISocket string
	PluginDir string // NRI's
	ConfDir   string // NRI's
	Log       string // a file with what containerd wrote

	Binaries *Binaries

	cgroup  string
	process *process
	conn    *grpc.ClientConn
	runtime cri.RuntimeServiceClient
	images  cri.ImageServiceClient
}

// Start starts a node and returns once it takes requests. It works only in an
// isolated program.
func Start(cfg Config) (*Node, error) {
	stage, group := currentStage()
	if stage != stageInside {
		return nil, errors.New("start node: program is not isolated")
	}
	binaries := cfg.Binaries
	if binaries == nil {
		progress := cfg.Progress
		if progress == nil {
			progress = os.Stderr
		}
		var err error
		if binaries, err = Build(progress); err != nil {
			return nil, err
		}
	}
	dir, err := os.MkdirTemp("", "n")
	if err != nil {
		return nil, fmt.Errorf("make node directory: %w", err)
	}
	// The root of a user namespace has to reach the root file systems.
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, errors.Join(fmt.Errorf("open node directory: %w", err), os.RemoveAll(dir))
	}
	n := &Node{
		Dir:       dir,
		Root:      filepath.Join(dir, "root"),
		State:     filepath.Join(dir, "state"),
		Address:   filepath.Join(dir, "containerd.sock"),
		NRISocket: filepath.Join(dir, "nri.sock"),
		PluginDir: filepath.Join(dir, "plugins"),
		ConfDir:   filepath.Join(dir, "conf.d"),
		Log:       filepath.Join(dir, "containerd.log"),
		Binaries:  binaries,
		cgroup:    "/" + group,
	}
	if cfg.DefaultState {
		n.State = "/run/containerd"
	}
	if cfg.Root != "" {
		n.Root = cfg.Root
	}
	if err := n.setUp(&cfg); err != nil {
		return nil, errors.Join(err, n.Stop())
	}
	return n, nil
}

func (n *Node) setUp(cfg *Config) error {
	if err := n.writeFiles(cfg); err != nil {
		return err
	}
	if err := n.connect(); err != nil {
		return err
	}
	if err := n.launch(); err != nil {
		return err
	}
	return n.importImage(cfg.Symlinks)
}

func (n *Node) writeFiles(cfg *Config) error {
	for _, dir := range []string{n.PluginDir, n.ConfDir} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return fmt.Errorf("make node directory: %w", err)
		}
	}
	for name, target := range cfg.Plugins {
		target, err := filepath.Abs(target)
		if err == nil {
			err = os.Symlink(target, filepath.Join(n.PluginDir, name))
		}
		if err != nil {
			return fmt.Errorf("install plugin %s: %w", name, err)
		}
	}
	for name, text := range cfg.PluginConf {
		if err := os.WriteFile(filepath.Join(n.ConfDir, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("configure plugin: %w", err)
		}
	}
	if err := os.WriteFile(n.configFile(), []byte(n.containerd(cfg)), 0o644); err != nil {
		return fmt.Errorf("configure containerd: %w", err)
	}
	return nil
}

func (n *Node) configFile() string { return filepath.Join(n.Dir, "config.toml") }

// launch starts containerd and waits until it is ready.
func (n *Node) launch() error {
	if err := n.Relaunch(); err != nil {
		return err
	}
	return n.WaitReady()
}

// Relaunch starts a containerd that has ended, and does not wait until it takes
// requests.
func (n *Node) Relaunch() error {
	cmd := exec.Command(n.Binaries.Containerd, "--config", n.configFile())
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(n.Binaries.Shim)+":"+os.Getenv("PATH"))
	cmd.Dir = n.Dir
	p, err := startProcess(cmd, n.Log)
	if err != nil {
		return err
	}
	n.process = p
	return nil
}

// PID is containerd's process, in the pid namespace of the caller.
func (n *Node) PID() int { return n.process.cmd.Process.Pid }

// Restart stops containerd and starts it again. Containers run on.
func (n *Node) Restart() error {
	if err := n.process.kill(unix.SIGTERM); err != nil {
		return err
	}
	return n.launch()
}

// Kill9 kills containerd, and nothing else, as a crash does. Restart brings it
// back.
func (n *Node) Kill9() error {
	return n.process.kill(unix.SIGKILL)
}

// Stop removes all pods, ends containerd and removes the node's files. A
// containerd that was killed is started once more, to remove the pods. It may
// be called again.
func (n *Node) Stop() error {
	if n.process == nil {
		return n.removeFiles()
	}
	var errs []error
	if !n.process.running() && n.conn != nil {
		errs = append(errs, n.launch())
	}
	if n.process.running() {
		errs = append(errs, n.RemovePods(context.Background()))
		errs = append(errs, n.process.kill(unix.SIGTERM))
	}
	n.process = nil
	return errors.Join(append(errs, n.removeFiles())...)
}

// removeFiles removes the node's directories and the mounts below them.
func (n *Node) removeFiles() error {
	if n.conn != nil {
		n.conn.Close()
		n.conn = nil
	}
	var errs []error
	for _, dir := range []string{n.Dir, n.Root, n.State} {
		errs = append(errs, unmountBelow(dir))
		if err := os.RemoveAll(dir); err != nil {
			errs = append(errs, fmt.Errorf("remove node directory: %w", err))
		}
	}
	return errors.Join(errs...)
}
