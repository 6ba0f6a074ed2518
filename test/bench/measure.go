//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/moby/sys/mountinfo"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/verify"
	"github.com/mountward/mountward/pkg/volumes"
)

// bench measures on one host.
type bench struct {
	host    *host
	view    *hostview.View
	devices *device.Cache
}

func newBench(h *host) (*bench, error) {
	view, err := hostview.Open(hostview.Options{Wait: time.Second})
	if err != nil {
		return nil, err
	}
	devices := device.NewCache(device.FS{Sys: "/sys", Loop: device.NewLoops("/dev").Status}, 4096)
	return &bench{host: h, view: view, devices: devices}, nil
}

// one measures the map of one task with its mounts, as at its start: what it
// leads to is cached. Beside it, what each of its volumes costs otherwise.
func (b *bench) one(ctx context.Context, rounds int) error {
	m, err := b.member(ctx, b.host.tasks[0].id)
	if err != nil {
		return err
	}
	bundle := m.Bundle
	table, err := b.view.ContainerTable(m.PID)
	if err != nil {
		return err
	}
	var took []time.Duration
	for range rounds {
		begun := time.Now()
		lookup := verify.Answers{}.By(func(path string) (facts.HostMount, error) { return b.view.Lookup(ctx, path) })
		task := volumes.Map(ctx, volumes.Sources{
			Outcomes: m.Outcomes, Container: table, Located: verify.Locate(m.Outcomes, table),
			Lookup: lookup, Host: b.view, Devices: b.devices,
			PodUID: m.Container.Pod.UID, KubeletRoot: kubeletRoot, RuntimeDirs: []string{state, "/var/lib/containerd"},
		}, m.PID, bundle.Rootfs())
		took = append(took, time.Since(begun))
		if n := onDevices(task); n != perTask {
			return fmt.Errorf("map of one task: %d volumes on a device, want %d", n, perTask)
		}
	}
	slices.Sort(took)
	median := took[len(took)/2]
	figure("map.12-mounts.p50", us(median), "us")
	figure("map.12-mounts.p99", us(took[len(took)*99/100]), "us")
	find, moby, err := b.others(10)
	if err != nil {
		return err
	}
	figure("map.12-mounts.findmnt", perTask*us(find), "us")
	figure("map.12-mounts.moby", perTask*us(moby), "us")
	figure("map.12-mounts.findmnt-over-map", perTask*ratio(find, median), "x")
	figure("map.12-mounts.moby-over-map", perTask*ratio(moby, median), "x")
	return nil
}

// node measures the map of all tasks. One findmnt a volume is not run for all:
// what some take is multiplied.
func (b *bench) node(ctx context.Context) error {
	var took []time.Duration
	for range 3 {
		begun := time.Now()
		s := b.nodeOf().Survey(ctx)
		took = append(took, time.Since(begun))
		on := 0
		for _, m := range s.Members {
			on += onDevices(m.Task)
		}
		if want := perTask * len(b.host.tasks); on != want || len(s.Unknown) > 0 {
			return fmt.Errorf("map of the node: %d volumes on a device, want %d; %d things not known", on, want, len(s.Unknown))
		}
	}
	find, moby, err := b.others(20)
	if err != nil {
		return err
	}
	slices.Sort(took)
	median := took[len(took)/2]
	count := float64(perTask * len(b.host.tasks))
	figure("node.map", us(median)/1000, "ms")
	figure("node.findmnt-a-volume", count*us(find)/1000, "ms")
	figure("node.moby-a-volume", count*us(moby)/1000, "ms")
	figure("node.findmnt-over-map", count*ratio(find, median), "x (budget: at least 20)")
	figure("node.moby-over-map", count*ratio(moby, median), "x")
	figure("node.map-over-one-moby-table", ratio(median, moby), "x")
	return nil
}

func (b *bench) nodeOf() volumes.Node {
	return volumes.Node{View: b.view, Devices: b.devices, KubeletRoot: kubeletRoot, States: []string{state}, RuntimeRoot: "/var/lib/containerd"}
}

func (b *bench) member(ctx context.Context, id string) (volumes.Member, error) {
	for _, m := range b.nodeOf().Survey(ctx).Members {
		if m.Container.ID == id {
			return m, nil
		}
	}
	return volumes.Member{}, errors.New("the first task is not found")
}

// others returns what one findmnt and one reading of the table by
// moby/sys/mountinfo take for one volume, the median of some.
func (b *bench) others(n int) (find, moby time.Duration, err error) {
	var finds, mobys []time.Duration
	for i := range n {
		volume := b.host.volumes[i*len(b.host.volumes)/n] // of the whole table
		begun := time.Now()
		if out, err := exec.Command("findmnt", "-no", "SOURCE,MAJ:MIN,PROPAGATION", "--mountpoint", volume).CombinedOutput(); err != nil || len(out) == 0 {
			return 0, 0, fmt.Errorf("run findmnt: %w: %s", err, out)
		}
		finds = append(finds, time.Since(begun))
		begun = time.Now()
		found, err := mountinfo.GetMounts(mountinfo.SingleEntryFilter(volume))
		if err != nil || len(found) != 1 {
			return 0, 0, fmt.Errorf("read mountinfo: %d entries: %w", len(found), err)
		}
		mobys = append(mobys, time.Since(begun))
	}
	slices.Sort(finds)
	slices.Sort(mobys)
	return finds[n/2], mobys[n/2], nil
}

// onDevices counts the volumes of which the map names the device.
func onDevices(t volumes.Task) int {
	n := 0
	for _, m := range t.Mounts {
		if m.Kind == "csi" && m.Name != "" {
			n++
		}
	}
	return n
}

func figure(name string, value float64, unit string) {
	fmt.Printf("FIGURE %s %.4g %s\n", name, value, unit)
}

func us(d time.Duration) float64       { return float64(d) / float64(time.Microsecond) }
func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }
