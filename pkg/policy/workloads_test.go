package policy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/workloads"
)

// csiNodes are the containers of the table that share a kubelet path with the
// host for other pods.
var csiNodes = []string{
	"OpenEBS lvm-localpv / openebs-lvm-node / openebs-lvm-plugin",
	"AWS EBS CSI / ebs-csi-node / ebs-plugin",
	"secrets-store CSI / csi-secrets-store / secrets-store",
	"Ceph-CSI rbd (Rook) / csi-rbdplugin / csi-rbdplugin",
	"Ceph-CSI cephfs (Rook) / csi-cephfsplugin / csi-cephfsplugin",
	"JuiceFS CSI / juicefs-csi-node / juicefs-plugin",
	"TopoLVM / topolvm-node / topolvm-node",
	"Longhorn CSI / longhorn-csi-plugin / longhorn-csi-plugin",
}

func TestNoRealWorkloadIsBrokenByTheBuiltInPolicy(t *testing.T) {
	for _, root := range []string{"/var/lib/kubelet", "/data/kubelet"} {
		t.Run(root, func(t *testing.T) {
			env := Env{Vars: Vars{KubeletRoot: root, RuntimeState: "/run/containerd", RuntimeRoot: "/var/lib/containerd"}}
			p := enforced(t)
			var nodes []string
			var table strings.Builder
			all, err := workloads.Read("../../config/examples/workloads.csv", root)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range all {
				if w.Container.Role == facts.RoleCSINode {
					nodes = append(nodes, w.Name)
				}
				for i, d := range p.Decide(w.Container, env, false) {
					judge(t, w, w.Container.Mounts[i], d)
					if d.Action == facts.ActionSet || len(d.Audited) > 0 {
						fmt.Fprintln(&table, row(w, w.Container.Mounts[i], d))
					}
				}
			}
			if diff := cmp.Diff(csiNodes, nodes); diff != "" {
				t.Errorf("containers of role %s (-want +got):\n%s", facts.RoleCSINode, diff)
			}
			t.Log("what changed or was recorded:\n" + table.String())
			golden(t, "testdata/workloads.golden", strings.ReplaceAll(table.String(), root, "${kubelet_root}"))
		})
	}
}

// judge tests what no workload may suffer.
func judge(t *testing.T, w workloads.Workload, m facts.Mount, d Decision) {
	t.Helper()
	switch {
	case !d.Judged || d.Action == facts.ActionDeny || len(d.Unknown) > 0:
		t.Errorf("%s: %s: %+v", w.Name, m.Source, d)
	case d.Action == facts.ActionSet && d.Propagation.Reach() < m.Requested().Reach():
		t.Errorf("%s: %s is lowered from %s to %s", w.Name, m.Source, m.Requested(), d.Propagation)
	case d.Action == facts.ActionSet && d.Propagation == facts.Shared:
		t.Errorf("%s: %s is raised to rshared", w.Name, m.Source)
	case w.Container.Role == facts.RoleCSINode && d.Action != facts.ActionAllow:
		t.Errorf("%s: %s of a CSI node driver is touched by rule %q", w.Name, m.Source, d.Rule)
	}
}

// row is one line of the table: what was asked, what was decided, which rules
// recorded it.
func row(w workloads.Workload, m facts.Mount, d Decision) string {
	decided := m.Requested().Option()
	if d.Action == facts.ActionSet {
		decided += " -> " + d.Propagation.Option()
	}
	by := d.Rule
	for _, a := range d.Audited {
		by += " (" + a.Rule + ")"
	}
	return strings.Join([]string{w.Name, m.Source, decided, strings.TrimSpace(by)}, " | ")
}
