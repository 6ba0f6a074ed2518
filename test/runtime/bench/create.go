//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"

	rspec "github.com/opencontainers/runtime-spec/specs-go"
)

const (
	warmUp      = 100
	staleRounds = 50 // each can wait for the whole table
)

// create measures the round trip of CreateContainer.
func (b *bench) create(ctx context.Context, label string) error {
	s, err := b.sides()
	if err != nil {
		return err
	}
	err = b.createEach(ctx, s, label)
	if err == nil {
		err = b.createStale(ctx, s, label)
	}
	return errors.Join(err, s.stop())
}

// createEach measures a container of which the policy raises one mount of
// twelve, and one of which it changes none.
func (b *bench) createEach(ctx context.Context, s *sides, label string) error {
	for _, kind := range []struct {
		name    string
		mounts  []rspec.Mount
		changes bool
	}{
		{"raise", binds(), true},
		{"unaffected", unaffected(), false},
	} {
		took, err := b.byTurns(ctx, s, kind.mounts, kind.changes)
		if err != nil {
			return err
		}
		name := "create." + kind.name
		for _, one := range s.all() {
			b.note(name+"."+one.name, label, took[one.name].figures(name+"."+one.name+"."+label, ""))
		}
		empty, bare, mountward := took["empty"].median(), took[bareName].median(), took["mountward"].median()
		figure(name+".ratio."+label, mountward/empty, "x", "at most 1.5")
		figure(name+".ratio-of-p99."+label, took["mountward"].quantile(0.99)/took["empty"].quantile(0.99), "x", "")
		figure(name+".ratio-to-bare."+label, mountward/bare, "x", "")
		figure(name+".added."+label, mountward-empty, "us", "")
	}
	return nil
}

// byTurns creates containers of the same mounts on each side, one after the
// other, and forgets them again.
func (b *bench) byTurns(ctx context.Context, s *sides, mounts []rspec.Mount, changes bool) (map[string]sample, error) {
	took := map[string]sample{}
	for i := range warmUp + b.n {
		for _, one := range s.all() {
			t := newTask(mounts) // NRI changes what it was given
			var changed int
			duration, err := timed(func() (err error) {
				changed, err = one.create(ctx, t)
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("create with plugin %s: %w", one.name, err)
			}
			if want := changes && one.name != "empty"; want != (changed > 0) {
				return nil, fmt.Errorf("create with plugin %s: %d mounts in the answer, want some: %t", one.name, changed, want)
			}
			if err := one.remove(ctx, t); err != nil {
				return nil, fmt.Errorf("remove with plugin %s: %w", one.name, err)
			}
			if i >= warmUp {
				took[one.name] = append(took[one.name], duration)
			}
		}
	}
	return took, nil
}

// createStale measures a raise right after a host mount: the table that the
// runtime will read is not the one that was read last, so it is read again.
func (b *bench) createStale(ctx context.Context, s *sides, label string) error {
	var took sample
	for range min(b.n, staleRounds) {
		t := newTask(binds())
		if err := b.host.change(); err != nil {
			return err
		}
		duration, err := timed(func() error {
			_, err := s.mountward.create(ctx, t)
			return err
		})
		took = append(took, duration)
		if err == nil {
			err = s.mountward.remove(ctx, t)
		}
		if err != nil {
			return fmt.Errorf("create after a host mount: %w", err)
		}
	}
	took.figures("create.raise-after-host-mount.mountward."+label, "")
	return nil
}
