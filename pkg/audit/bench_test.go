package audit

import (
	"fmt"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/volumes"
)

// BenchmarkRecord is what a handler pays for the task record of a container
// with twelve mounts.
func BenchmarkRecord(b *testing.B) {
	gate := &gateSink{open: make(chan struct{})}
	trail := start([]*destination{{sink: gate}}, nil)
	task := Task{Container: testContainer(), Policy: testPolicy(), Task: volumes.Task{Rootfs: volumes.Rootfs{Path: "/run/x/rootfs", FSType: "overlay"}}}
	for i := range 12 {
		task.Mounts = append(task.Mounts, volumes.Mount{
			Destination: fmt.Sprintf("/var/lib/app/%d", i), Source: "/var/lib/kubelet/pods/x/volumes/kubernetes.io~csi/pv/mount",
			Kind: "csi", Volume: "data", FSType: "ext4", Seen: &facts.MountState{Master: 3}, Host: &facts.MountState{Peer: 3},
			Backing: volumes.Backing{Device: facts.DeviceNumber{Major: 253, Minor: 2}, LV: "vg0/pvc"},
		})
	}
	b.ReportAllocs()
	for b.Loop() {
		trail.Record(task)
	}
	b.StopTimer()
	close(gate.open)
}
