//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// record is step (d).
func (d *demo) record(ctx context.Context) error {
	d.heading("\n(d) The trail has a record of each task: what its root filesystem and its volumes live on.")
	why, err := noLogicalVolumes()
	if err != nil {
		return err
	}
	d.say("Pod db-0 starts, with pvc-1 as /data. " + why)
	volume := filepath.Join(podsDir, dbVolume())
	sandbox, err := d.node.RunPod(ctx, harness.Pod{
		Namespace: "shop", Name: "db-0", UID: dbUID, Containers: []harness.Container{{
			Name: "db", Mounts: []harness.ContainerMount{{HostPath: volume, ContainerPath: "/data"}},
		}},
	})
	if err != nil {
		return err
	}
	id := sandbox.Containers["db"]
	r, err := d.ward.Await(ctx, 0, ward.Of("task", id))
	if err != nil {
		return err
	}
	d.printTask(r, id)
	is, err := d.truth(ctx, id, volume)
	if err != nil {
		return err
	}
	const what = "Paths and devices are those of the kernel. Each mount has an LV, or why there is none."
	if wrong := is.differences(r); len(wrong) > 0 {
		d.failed(what, strings.Join(wrong, "\n"))
	} else {
		d.proves(true, what)
	}
	return nil
}

func (d *demo) printTask(r ward.Record, id string) {
	d.evidence("rootfs", strings.ReplaceAll(word(r.At("rootfs", "path")), id, id[:12]+"..."))
	d.evidence("upperdir", word(r.At("rootfs", "upperdir")))
	d.evidence("", "on "+backing(r.At("rootfs")))
	where := "mounts"
	for _, line := range mountLines(r) {
		d.evidence(where, line)
		where = ""
	}
}

// mountLines has a line for each mount, and one for neighbours that differ in
// their destination only.
func mountLines(r ward.Record) []string {
	var lines []string
	last := ""
	mounts, _ := r.At("mounts").([]any)
	for i := range mounts {
		m := func(name string) string { return word(r.At("mounts", i, name)) }
		kind := strings.TrimSpace(m("kind") + " " + m("volume"))
		rest := fmt.Sprintf(" (%s): %s on %s", kind, m("fs_type"), backing(mounts[i]))
		destination := m("destination")
		if rest == last {
			n := len(lines) - 1
			destination = strings.TrimSuffix(lines[n], rest) + ", " + destination
			lines = lines[:n]
		}
		lines, last = append(lines, destination+rest), rest
	}
	return lines
}

// backing is what something lives on, from a part of a record.
func backing(part any) string {
	p, _ := part.(map[string]any)
	text := strings.TrimSpace(word(p["device"]) + " " + word(p["device_name"]))
	if lv := word(p["lv"]); lv != "" {
		return text + ", LV " + lv
	}
	why, _, _ := strings.Cut(word(p["no_lv"]), ", of a file system")
	return text + ", no LV: " + why
}

// word is a member of a record, "" where it is left out.
func word(v any) string {
	text, _ := v.(string)
	return text
}

// noLogicalVolumes says why none is shown.
func noLogicalVolumes() (string, error) {
	_, err := os.Stat("/sys/class/misc/device-mapper")
	switch {
	case err == nil:
		return "No device here is an LV: for those see the VM tests.", nil
	case errors.Is(err, fs.ErrNotExist):
		return "No device-mapper here: for LVs see the VM tests.", nil
	default:
		return "", fmt.Errorf("look for device-mapper: %w", err)
	}
}
