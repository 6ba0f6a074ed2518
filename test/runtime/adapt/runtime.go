//go:build linux

package adapt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/adaptation/builtin"
	"github.com/containerd/nri/pkg/api"
	validator "github.com/containerd/nri/plugins/default-validator"
)

// Config is what differs between runtimes. The zero value has no plugins.
type Config struct {
	// Plugins are launched: the name in the plugin directory, such as
	// "90-mountward", and the executable, which is linked to.
	Plugins map[string]string
	// PluginConf are files of the configuration directory, such as
	// "90-mountward.conf": name and text.
	PluginConf map[string]string
	// Builtin are plugins within this process, called in the order of their
	// index among all others.
	Builtin []*builtin.BuiltinPlugin
	// Validator is NRI's own, which can require plugins.
	Validator *validator.DefaultValidatorConfig
	// RequestTimeout and RegistrationTimeout are NRI's for plugins; zero is
	// NRI's default. NRI keeps them for the process: the last runtime that was
	// started sets them for all.
	RequestTimeout      time.Duration
	RegistrationTimeout time.Duration
	// Name and Version are the runtime's, as plugins hear them. Empty is
	// containerd v2.4.2.
	Name, Version string
	// NRIVersion is what plugins hear of the runtime's NRI. Empty is the one
	// that it is.
	NRIVersion string
	// Pods and Containers are what plugins are synchronized with.
	Pods       []*api.PodSandbox
	Containers []*api.Container
	// Update answers updates that plugins ask for unasked. Nil accepts them.
	Update adaptation.UpdateFn
}

// Runtime is the runtime's side of NRI.
type Runtime struct {
	Dir       string // all files of the runtime, removed with it
	Socket    string // where plugins connect
	PluginDir string
	ConfDir   string
	// Adaptation is for what the methods here do not send.
	Adaptation *adaptation.Adaptation

	mutex      sync.Mutex
	pods       []*api.PodSandbox
	containers []*api.Container
	synced     chan struct{} // closed and replaced with every synchronization
	syncs      int
	stops      []func()
}

// Start launches the plugins and listens for more.
func Start(cfg Config) (*Runtime, error) {
	dir, err := os.MkdirTemp("", "nri")
	if err != nil {
		return nil, fmt.Errorf("make runtime directory: %w", err)
	}
	r := &Runtime{
		Dir:        dir,
		Socket:     filepath.Join(dir, "nri.sock"),
		PluginDir:  filepath.Join(dir, "plugins"),
		ConfDir:    filepath.Join(dir, "conf.d"),
		pods:       cfg.Pods,
		containers: cfg.Containers,
		synced:     make(chan struct{}),
	}
	if err := r.start(&cfg); err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	return r, nil
}

func (r *Runtime) start(cfg *Config) error {
	if err := cfg.install(r.PluginDir, r.ConfDir); err != nil {
		return err
	}
	adaptation.SetPluginRequestTimeout(or(cfg.RequestTimeout, adaptation.DefaultPluginRequestTimeout))
	adaptation.SetPluginRegistrationTimeout(or(cfg.RegistrationTimeout, adaptation.DefaultPluginRegistrationTimeout))
	update := cfg.Update
	if update == nil {
		update = func(context.Context, []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) { return nil, nil }
	}
	a, err := adaptation.New(or(cfg.Name, "containerd"), or(cfg.Version, "v2.4.2"), r.synchronize, update,
		adaptation.WithSocketPath(r.Socket),
		adaptation.WithPluginPath(r.PluginDir),
		adaptation.WithPluginConfigPath(r.ConfDir),
		adaptation.WithBuiltinPlugins(cfg.Builtin...),
		adaptation.WithDefaultValidator(cfg.Validator),
	)
	if err != nil {
		return fmt.Errorf("make runtime: %w", err)
	}
	if err := setVersion(a, or(cfg.NRIVersion, NRIVersion)); err != nil {
		return err
	}
	if err := a.Start(); err != nil {
		return fmt.Errorf("start runtime: %w", err)
	}
	r.Adaptation = a
	return nil
}

func (cfg *Config) install(pluginDir, confDir string) error {
	for _, dir := range []string{pluginDir, confDir} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return fmt.Errorf("make runtime directory: %w", err)
		}
	}
	for name, target := range cfg.Plugins {
		target, err := filepath.Abs(target)
		if err == nil {
			err = os.Symlink(target, filepath.Join(pluginDir, name))
		}
		if err != nil {
			return fmt.Errorf("install plugin %s: %w", name, err)
		}
	}
	for name, text := range cfg.PluginConf {
		if err := os.WriteFile(filepath.Join(confDir, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("configure plugin: %w", err)
		}
	}
	return nil
}

// Stop disconnects the plugins that connected, kills those that were launched
// and removes the runtime's files.
func (r *Runtime) Stop() error {
	for _, stop := range r.stops {
		stop()
	}
	r.stops = nil
	if r.Adaptation != nil {
		r.Adaptation.Stop()
	}
	if err := os.RemoveAll(r.Dir); err != nil {
		return fmt.Errorf("remove runtime directory: %w", err)
	}
	return nil
}

func or[T comparable](v, other T) T {
	var zero T
	if v == zero {
		return other
	}
	return v
}
