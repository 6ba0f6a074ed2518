package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/volumes"
)

// path looks a path of the host up, as it is written. That of a block device
// means the device. A path that does not answer is not asked again.
func (n *node) path(ctx context.Context, path string) (show.Target, error) {
	path, err := absolute(path)
	if err != nil {
		return show.Target{}, err
	}
	t := show.Target{Target: path}
	m, err := n.view.Lookup(ctx, path)
	if err != nil {
		return show.Target{}, err
	}
	if number, err := n.view.BlockNumber(ctx, path); err == nil {
		t, _ := n.device(path, number) // which tells the error
		return t, nil
	}
	t.Mount = &m
	return told(t, volumes.StorageAt(ctx, n.view, n.devices, m)), nil
}

// absolute makes a path of the command line absolute and leaves it as it is
// otherwise, but for a "./" before it: "a/.." is not "." where a is a symbolic
// link.
func absolute(path string) (string, error) {
	if filepath.IsAbs(path) {
		return path, nil
	}
	for strings.HasPrefix(path, "./") {
		path = strings.TrimLeft(path[1:], "/")
	}
	here, err := os.Getwd()
	return strings.TrimSuffix(here, "/") + "/" + path, err
}

// device resolves a block device by its number. The error is in the target as
// well.
func (n *node) device(name string, number facts.DeviceNumber) (show.Target, error) {
	s, err := volumes.StorageOf(n.devices, number)
	return told(show.Target{Target: name}, s), err
}

// told sets a target's storage, and why that cannot be told.
func told(t show.Target, s volumes.Storage) show.Target {
	t.Storage = &s
	if reason, ok := strings.CutPrefix(s.NoLV, show.CannotTell); ok {
		t.Why = reason
	}
	return t
}

// lv finds a logical volume by VG/LV among the devices of the device mapper.
// One that has no device of its own name now, such as a thin pool in use, is
// found by a part of it.
func (n *node) lv(name string) (target show.Target, found bool) {
	files, _ := filepath.Glob(filepath.Join(n.sys, "block", "dm-*", "dev")) // the pattern is good
	for _, file := range files {
		text, err := os.ReadFile(file)
		var number facts.DeviceNumber
		if err == nil {
			err = number.UnmarshalText([]byte(strings.TrimSpace(string(text))))
		}
		if err != nil {
			continue // it is just being removed
		}
		t, err := n.device(name, number)
		if err != nil || t.Storage.Layers[0].LV == nil || t.Storage.Layers[0].LV.String() != name {
			continue
		}
		if t.Storage.Layers[0].Kind == device.LV {
			return t, true
		}
		if !found {
			target, found = t, true
		}
	}
	return target, found
}

// overlay tells where an overlay writes that a path is on, if it is known of a
// container: the host's table does not have its layers.
func overlay(t *show.Target, s volumes.Survey) {
	if t.Mount == nil || t.Mount.FSType != "overlay" {
		return
	}
	for _, m := range s.Members {
		var upper facts.DeviceNumber
		if m.Rootfs.Superblock == t.Mount.Device {
			upper = m.Rootfs.Device
		}
		for _, mount := range m.Mounts {
			if mount.Superblock == t.Mount.Device {
				upper = mount.Device
			}
		}
		for i := range m.Storage {
			if !upper.IsZero() && m.Storage[i].Device == upper {
				t.Why = ""
				*t = told(*t, m.Storage[i])
				return
			}
		}
	}
}

// why is the reason of an error that names its path already.
func why(err error) string {
	var cannot *hostview.CannotTell
	if errors.As(err, &cannot) {
		return cannot.Why
	}
	return err.Error()
}
