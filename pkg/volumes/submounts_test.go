package volumes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

func TestSubmounts(t *testing.T) {
	h := onHost(nil)
	m, task := one(t, h, node(), kubelet,
		"101 100 8:1 /var/lib/kubelet /data rw master:1 - ext4 x rw",
		"102 101 253:2 / /data/pods/u/a ro master:2 - xfs x rw",
		"103 102 253:2 /sub /data/pods/u/a/b rw - xfs x rw",
		"104 101 0:70 / /data/pods/u/s rw - tmpfs tmpfs rw",
		"105 101 253:5 / /data/pods/u/c rw - xfs x rw",
		"106 100 253:4 / /elsewhere rw - xfs x rw",
		"107 101 253:9 / /data/pods/u/odd rw - xfs x rw",
		"108 101 0:51 / /data/rootfs rw - overlay o rw,lowerdir=/l,upperdir=/u",
	)
	unknown := Backing{Device: number(253, 9), Name: "dm-9", DMName: "odd", NoLV: "cannot tell: dm-9: its slaves could not be read"}
	over := Backing{Device: number(253, 5), Name: "dm-5", DMName: "vg1-over", LV: "vg1/over", LVUUID: "uuid-over"}
	want := &Submounts{
		Count: 6,
		First: []Submount{
			{Destination: "/data/pods/u/a", FSType: "xfs", ReadOnly: true, Seen: facts.MountState{Master: 2}, Backing: backing1()},
			{Destination: "/data/pods/u/a/b", FSType: "xfs", Backing: backing1()},
			{Destination: "/data/pods/u/s", FSType: "tmpfs", Backing: Backing{Device: number(0, 70), NoLV: "tmpfs: in memory"}},
			{Destination: "/data/pods/u/c", FSType: "xfs", Backing: over},
			{Destination: "/data/pods/u/odd", FSType: "xfs", Backing: unknown},
			{Destination: "/data/rootfs", FSType: "overlay", Backing: Backing{Device: number(0, 51), NoLV: "cannot tell: overlay: not followed below another mount"}},
		},
		LVs: []string{"vg0/pvc-1", "vg1/over"},
		Why: "cannot tell of 2 of them: dm-9: its slaves could not be read",
	}
	all := m.Submounts.All
	if len(all) != 6 || all[1].Mounted != (facts.Identity{Device: number(253, 2), Root: "/sub"}) {
		t.Errorf("all %+v", all)
	}
	m.Submounts.All = nil
	for i := range m.Submounts.First {
		m.Submounts.First[i].Mounted = facts.Identity{}
	}
	if diff := cmp.Diff(want, m.Submounts); diff != "" {
		t.Errorf("submounts (-want +got):\n%s", diff)
	}
	if !m.OpenEnded || len(task.Storage) != 6 {
		t.Errorf("open ended %t, %d storages", m.OpenEnded, len(task.Storage))
	}
	if m, _ := one(t, h, node(), "/srv", "101 100 8:1 /srv /data rw - ext4 x rw"); m.Submounts != nil {
		t.Errorf("submounts of a mount without any: %+v", m.Submounts)
	}
}

// TestSubmountsOfAnAgent: it has the volumes of the whole node. Each device is
// asked once and only some are told.
func TestSubmountsOfAnAgent(t *testing.T) {
	const volumes, each = 300, 3
	d := node()
	lines := []string{"101 100 8:1 /var/lib/kubelet /data rw master:1 - ext4 x rw"}
	for i := range volumes {
		n := number(253, uint32(1000+i))
		d.chains[n] = chainOf(lvLayer(n, "vg", fmt.Sprintf("v%03d", i)))
		for j := range each {
			lines = append(lines, fmt.Sprintf("%d 101 %s / /data/pods/u%d/%d rw - xfs x rw", 1000+i*each+j, n, i, j))
		}
	}
	h := onHost(nil)
	m, task := one(t, h, d, kubelet, lines...)
	s := m.Submounts
	if s.Count != volumes*each || len(s.First) != maxSubmounts || len(s.LVs) != maxSubmountsLVs || s.LVsOmitted != volumes-maxSubmountsLVs || len(s.All) != volumes*each || s.Why != "" {
		t.Errorf("count %d, first %d, LVs %d and %d more, %d mounts, why %q", s.Count, len(s.First), len(s.LVs), s.LVsOmitted, len(s.All), s.Why)
	}
	if !slices.IsSorted(s.LVs) || s.LVs[0] != "vg/v000" {
		t.Errorf("LVs %v", s.LVs)
	}
	if len(d.asked) != volumes+1 {
		t.Errorf("%d devices were asked, want %d", len(d.asked), volumes+1)
	}
	if len(task.Storage) > maxSubmounts+2 || len(task.Storage)+len(task.Rest) != volumes+1 {
		t.Errorf("%d storages are told, %d are not", len(task.Storage), len(task.Rest))
	}
	if n := len(h.asked); n > 20 {
		t.Errorf("the host was asked %d times: %v", n, h.asked)
	}
}

// TestSubmountOnBtrfs: the host's path to it is that of the source and the rest.
func TestSubmountOnBtrfs(t *testing.T) {
	h := onHost(map[string]facts.HostMount{"/srv/sub": {Device: number(0, 40), Root: "/", FSType: "btrfs"}})
	d := node()
	h.errs = map[string]error{}
	h.btrfs = nil
	m, _ := one(t, h, d, "/srv", "101 100 8:1 /srv /data rw - ext4 x rw", "102 101 0:40 / /data/sub rw - btrfs x rw,subvolid=5")
	if got := m.Submounts.First[0].NoLV; !strings.HasPrefix(got, "cannot tell: btrfs: /srv/sub: ") {
		t.Errorf("without the right: %q", got)
	}
	if m.Submounts.Why == "" {
		t.Error("it is not said that it cannot be told")
	}
}

// TestTheEndOfTime: a map is drawn of what is known when the time is over.
func TestTheEndOfTime(t *testing.T) {
	s := located(Sources{
		Outcomes: []facts.Outcome{asked("/a", "/srv/a", facts.Private)}, Host: onHost(nil), Devices: node(),
		Container: tableOf(t, "100 1 0:50 / / rw - overlay o rw,lowerdir=/l,upperdir=/u", "101 100 253:2 / /a rw - xfs x rw"),
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	task := Map(ctx, s, 1, "/b/rootfs")
	if task.Mounts[0].LV != "vg0/pvc-1" || !strings.Contains(task.Mounts[0].Why, "canceled") || !strings.Contains(task.Rootfs.NoLV, "canceled") {
		t.Errorf("%+v, rootfs %+v", task.Mounts[0], task.Rootfs)
	}
}
