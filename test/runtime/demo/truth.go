//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/ward"
)

// truth is what a task record must say, from containerd's layout, the
// container's mount table and stat(2).
type truth struct {
	rootfs, upper           string // paths
	upperDevice, dataDevice string // MAJ:MIN
	mounts                  []string
}

func (d *demo) truth(ctx context.Context, id, volume string) (truth, error) {
	is := truth{rootfs: filepath.Join(d.node.Bundle(id), "rootfs")}
	table, err := d.node.ContainerMountinfo(ctx, id)
	if err != nil {
		return is, err
	}
	root := table.At("/")
	if root == nil {
		return is, errors.New("find / in the container's mount table: not there")
	}
	for _, option := range root.SuperOptions {
		if dir, ok := strings.CutPrefix(option, "upperdir="); ok {
			is.upper = dir
		}
	}
	spec, err := d.node.Spec(id)
	if err != nil {
		return is, err
	}
	for _, m := range spec.Mounts {
		if m.Type == "bind" {
			is.mounts = append(is.mounts, m.Destination)
		}
	}
	if is.upperDevice, err = deviceOf(is.upper); err != nil {
		return is, err
	}
	is.dataDevice, err = deviceOf(volume)
	return is, err
}

// deviceOf is the device number of the file system that a path is on.
func deviceOf(path string) (string, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return "", fmt.Errorf("look at %s: %w", path, err)
	}
	return fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev)), nil
}

// differences says what of a record is not so, one a line.
func (is truth) differences(r ward.Record) []string {
	var wrong []string
	want := func(what string, recorded any, is string) {
		if word(recorded) != is {
			wrong = append(wrong, fmt.Sprintf("%s is %q, the record has %q", what, is, word(recorded)))
		}
	}
	want("rootfs", r.At("rootfs", "path"), is.rootfs)
	want("upperdir", r.At("rootfs", "upperdir"), is.upper)
	want("device of the upperdir", r.At("rootfs", "device"), is.upperDevice)

	recorded := make(map[string]map[string]any)
	mounts, _ := r.At("mounts").([]any)
	for _, part := range mounts {
		m, _ := part.(map[string]any)
		recorded[word(m["destination"])] = m
	}
	want("device of /data", recorded["/data"]["device"], is.dataDevice)
	want("kind of /data", recorded["/data"]["kind"], "csi")
	for _, destination := range is.mounts {
		m := recorded[destination]
		if m == nil {
			wrong = append(wrong, destination+" is not in the record")
			continue
		}
		if word(m["lv"]) == "" && word(m["no_lv"]) == "" {
			wrong = append(wrong, destination+" has neither an LV nor why not")
		}
	}
	if rootfs, _ := r.At("rootfs").(map[string]any); word(rootfs["lv"]) == "" && word(rootfs["no_lv"]) == "" {
		wrong = append(wrong, "rootfs has neither an LV nor why not")
	}
	return wrong
}
