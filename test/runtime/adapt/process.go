//go:build linux

package adapt

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/containerd/nri/pkg/api"
)

// Process is the runtime's side of NRI as a process of its own, in another
// version of NRI than this program has: package adaptation. Its requests come
// one after the other.
type Process struct {
	Dir    string // all files of the runtime, removed with it
	Socket string // where plugins connect
	PID    int    // the parent of the plugins it launches

	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Reader
}

// StartProcess starts a program that package adaptation is built to, launches
// the plugins of a configuration and listens for more. Of the configuration it
// takes those, Version and, as the name of the one plugin that is required,
// require.
func StartProcess(program string, cfg Config, require string) (*Process, error) {
	dir, err := os.MkdirTemp("", "nri")
	if err != nil {
		return nil, fmt.Errorf("make runtime directory: %w", err)
	}
	p := &Process{Dir: dir, Socket: filepath.Join(dir, "nri.sock")}
	if err := p.start(program, &cfg, require); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

func (p *Process) start(program string, cfg *Config, require string) error {
	if err := cfg.install(filepath.Join(p.Dir, "plugins"), filepath.Join(p.Dir, "conf.d")); err != nil {
		return err
	}
	cmd := exec.Command(program, "-dir", p.Dir, "-version", or(cfg.Version, "v2.4.2"), "-require", require)
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start runtime: %w", err)
	}
	p.cmd, p.PID, p.out = cmd, cmd.Process.Pid, bufio.NewReader(stdout)
	_, err = p.read()
	return err
}

// CreateContainer asks all plugins about a container and returns what they
// change together.
func (p *Process) CreateContainer(pod *api.PodSandbox, c *api.Container) (*api.ContainerAdjustment, error) {
	a, err := p.ask("create", pod, c)
	return a.Adjust, err
}

// StartContainer tells all plugins that a container is about to start.
func (p *Process) StartContainer(pod *api.PodSandbox, c *api.Container) error {
	_, err := p.ask("start", pod, c)
	return err
}

// StopContainer tells all plugins that a container has stopped.
func (p *Process) StopContainer(pod *api.PodSandbox, c *api.Container) error {
	_, err := p.ask("stop", pod, c)
	return err
}

// RemoveContainer tells all plugins that a container is removed.
func (p *Process) RemoveContainer(pod *api.PodSandbox, c *api.Container) error {
	_, err := p.ask("remove", pod, c)
	return err
}

// Syncs is how often plugins were synchronized, well or not: the first time is
// that of the launched ones.
func (p *Process) Syncs() (int, error) {
	a, err := p.ask("", nil, nil)
	return a.Synced, err
}

// answer is what the process says.
type answer struct {
	Error  string
	Adjust *api.ContainerAdjustment
	Synced int
}

func (p *Process) ask(event string, pod *api.PodSandbox, c *api.Container) (answer, error) {
	body := map[string]any{"pod": pod, "container": c}
	if err := json.NewEncoder(p.stdin).Encode(map[string]any{"event": event, "body": body}); err != nil {
		return answer{}, fmt.Errorf("ask runtime: %w", err)
	}
	return p.read()
}

func (p *Process) read() (answer, error) {
	line, err := p.out.ReadBytes('\n')
	var a answer
	if err == nil {
		err = json.Unmarshal(line, &a)
	}
	switch {
	case err != nil:
		return a, fmt.Errorf("read runtime's answer: %w", err)
	case a.Error != "":
		return a, errors.New(a.Error)
	}
	return a, nil
}

// Stop ends the runtime, and with it the plugins, and removes its files.
func (p *Process) Stop() error {
	var err error
	if p.cmd != nil {
		_ = p.cmd.Process.Kill() // an error says that it has ended
		_ = p.cmd.Wait()         // it was killed
		p.cmd = nil
	}
	if remove := os.RemoveAll(p.Dir); remove != nil {
		err = fmt.Errorf("remove runtime directory: %w", remove)
	}
	return err
}
