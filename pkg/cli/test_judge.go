package cli

import (
	"github.com/mountward/mountward/pkg/apply"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/policytest"
	"github.com/mountward/mountward/pkg/settings"
)

// judgeTest judges a container of a test as the daemon would with the default
// settings.
func judgeTest(p *policy.Policy, c facts.Container, env policy.Env, h policytest.Host) policytest.Judged {
	volumesOfTest(p, &c, env.KubeletRoot)
	guard := settings.Default().Guard
	plan, decisions := apply.Judge(p, &c, env, apply.Request{
		Enforce: true, NeverRefuse: c.Pod.Static().Truth == facts.Yes,
		Raise: policy.OnUnmet(guard.OnUnmetRaise), Lower: policy.OnUnmet(guard.OnUnmetLower),
		Table: func() (apply.MountTable, error) { return testTable(h.Mounts), nil },
	}, true)
	return policytest.Judged{Decisions: decisions, Outcomes: plan.Outcomes, Hazards: plan.Hazards}
}

// volumesOfTest fills in what the daemon would know of the volumes by their paths
// alone. A test's host has no files of the kubelet, so what only those tell is not
// known: the driver of a CSI volume, and of what volume a sub-path is.
func volumesOfTest(p *policy.Policy, c *facts.Container, kubeletRoot string) {
	if !p.AsksVolumes() {
		return
	}
	for i := range c.Mounts {
		c.Mounts[i].Volume, _ = facts.VolumeOf(c, &c.Mounts[i], kubeletRoot)
	}
}

// testTable is the mount table of a test's host.
type testTable []facts.HostMount

// First returns the first entry at a mount point.
func (t testTable) First(mountPoint string) (hostview.Entry, bool) {
	for _, m := range t {
		if m.MountPoint == mountPoint {
			return hostview.Entry{
				ID: int(m.MountID), Device: m.Device, Root: m.Root, MountPoint: m.MountPoint,
				FSType: m.FSType, Source: m.Source, State: m.State,
			}, true
		}
	}
	return hostview.Entry{}, false
}

// Recheck returns the entry as it is: nothing changes on a test's host.
func (t testTable) Recheck(entry hostview.Entry) (hostview.Entry, error) { return entry, nil }
