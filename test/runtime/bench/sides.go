//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/mountward/mountward/test/runtime/adapt"
	"github.com/mountward/mountward/test/runtime/ward"
)

// patience is what plugins get for an answer: a machine that stands still for a
// moment is no reason to have no figures.
const patience = 30 * time.Second

// side is one runtime with one launched plugin.
type side struct {
	name string
	*adapt.Runtime
}

// sides are what is measured by turns: a plugin that answers with nothing; one
// that answers as mountward does without deciding anything, and that validates,
// which is a second question for every creation; and mountward.
type sides struct {
	empty, bare, mountward side
	ward                   *ward.Ward
}

func (b *bench) sides() (_ *sides, err error) {
	s := &sides{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop())
		}
	}()
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own program: %w", err)
	}
	s.empty.name, s.bare.name, s.mountward.name = "empty", bareName, "mountward"
	if s.empty.Runtime, err = adapt.Start(adapt.Config{Plugins: map[string]string{"90-empty": b.empty}, RequestTimeout: patience}); err != nil {
		return nil, err
	}
	if s.bare.Runtime, err = adapt.Start(adapt.Config{Plugins: map[string]string{"90-" + bareName: self}, RequestTimeout: patience}); err != nil {
		return nil, err
	}
	s.ward, s.mountward.Runtime, err = b.launch()
	return s, err
}

// launch starts a runtime with mountward, as it is installed but for where its
// files are, under the shipped policy in enforce mode.
func (b *bench) launch() (*ward.Ward, *adapt.Runtime, error) {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return nil, nil, fmt.Errorf("make directory: %w", err)
	}
	policy, err := shippedPolicy()
	if err != nil {
		return nil, nil, err
	}
	w, node, err := ward.New(dir, ward.Options{Policy: policy, Binary: b.mountward})
	if err != nil {
		return nil, nil, err
	}
	r, err := adapt.Start(adapt.Config{Plugins: node.Plugins, PluginConf: node.PluginConf, RequestTimeout: patience})
	return w, r, err
}

func (s *sides) all() []side { return []side{s.empty, s.bare, s.mountward} }

func (s *sides) stop() error {
	var errs []error
	for _, one := range s.all() {
		if one.Runtime != nil {
			errs = append(errs, one.Stop())
		}
	}
	if s.ward != nil {
		errs = append(errs, os.RemoveAll(s.ward.Dir))
	}
	return errors.Join(errs...)
}

// create asks the plugin about a container and returns how many mounts the
// answer has.
func (s side) create(ctx context.Context, t *task) (changed int, err error) {
	adjust, err := s.CreateContainer(ctx, t.pod, t.container)
	return len(adjust.GetMounts()), err
}

func (s side) remove(ctx context.Context, t *task) error {
	return s.RemoveContainer(ctx, t.pod, t.container)
}
