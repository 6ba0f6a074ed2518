package policy

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// workload is one container of testdata/workloads.csv: the hostPath mounts of
// real storage, network and monitoring agents, read from their own manifests.
type workload struct {
	name      string // PROJECT / WORKLOAD / CONTAINER
	container facts.Container
}

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
			for _, w := range workloads(t, root) {
				if w.container.Role == facts.RoleCSINode {
					nodes = append(nodes, w.name)
				}
				for i, d := range p.Decide(w.container, env, false) {
					judge(t, w, w.container.Mounts[i], d)
					if d.Action == facts.ActionSet || len(d.Audited) > 0 {
						fmt.Fprintln(&table, row(w, w.container.Mounts[i], d))
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
func judge(t *testing.T, w workload, m facts.Mount, d Decision) {
	t.Helper()
	switch {
	case !d.Judged || d.Action == facts.ActionDeny || len(d.Unknown) > 0:
		t.Errorf("%s: %s: %+v", w.name, m.Source, d)
	case d.Action == facts.ActionSet && d.Propagation.Reach() < m.Requested().Reach():
		t.Errorf("%s: %s is lowered from %s to %s", w.name, m.Source, m.Requested(), d.Propagation)
	case d.Action == facts.ActionSet && d.Propagation == facts.Shared:
		t.Errorf("%s: %s is raised to rshared", w.name, m.Source)
	case w.container.Role == facts.RoleCSINode && d.Action != facts.ActionAllow:
		t.Errorf("%s: %s of a CSI node driver is touched by rule %q", w.name, m.Source, d.Rule)
	}
}

// row is one line of the table: what was asked, what was decided, which rules
// recorded it.
func row(w workload, m facts.Mount, d Decision) string {
	decided := m.Requested().Option()
	if d.Action == facts.ActionSet {
		decided += " -> " + d.Propagation.Option()
	}
	by := d.Rule
	for _, a := range d.Audited {
		by += " (" + a.Rule + ")"
	}
	return strings.Join([]string{w.name, m.Source, decided, strings.TrimSpace(by)}, " | ")
}

// workloads reads the table, with the kubelet at root.
func workloads(t *testing.T, root string) []workload {
	t.Helper()
	file, err := os.Open("testdata/workloads.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"source", "project", "workload", "container", "hostPath", "mountPath", "mountPropagation", "readOnly", "privileged"}
	if diff := cmp.Diff(want, records[0]); diff != "" {
		t.Fatal(diff)
	}
	var all []workload
	index := map[string]int{}
	for _, r := range records[1:] {
		group := strings.Join(r[:4], "\x00")
		i, ok := index[group]
		if !ok {
			i = len(all)
			index[group] = i
			all = append(all, workload{
				name: strings.Join(r[1:4], " / "),
				container: facts.Container{
					Name: strings.TrimPrefix(r[3], "init:"), Pod: facts.Pod{Name: r[2]},
					Privileged: facts.Is(r[8] == "yes", "the manifest says so"),
				},
			})
		}
		all[i].container.Mounts = append(all[i].container.Mounts, kubeletMount(t, r, root))
	}
	for i := range all {
		all[i].container.Role = facts.Role(all[i].container.Mounts, root)
	}
	if len(all) < 60 {
		t.Fatalf("%d containers in the table, it has lost some", len(all))
	}
	return all
}

// kubeletMount makes the mount that the kubelet asks the runtime for. Some
// cells of the table hold what their chart computes: a source without a path
// is an emptyDir or a directory of the chart's choice, and of several
// propagations or access modes the one that lets more through is taken, since
// a decision must be right for it too.
func kubeletMount(t *testing.T, r []string, root string) facts.Mount {
	t.Helper()
	m := facts.Mount{Source: r[4], Destination: r[5], Type: "bind", Options: []string{"rbind"}}
	switch {
	case strings.HasPrefix(m.Source, "(emptyDir "):
		m.Source = root + "/pods/11111111-2222-3333-4444-555555555555/volumes/kubernetes.io~empty-dir/" + strings.Trim(m.Source[10:], ")")
	case strings.HasPrefix(m.Source, "<parent of the volume"):
		m.Source, m.Destination = "/opt/local-path-provisioner", "/opt/local-path-provisioner"
	case !strings.HasPrefix(m.Source, "/"):
		m.Source = "/var/lib/longhorn/" + m.Source
	}
	if rest, ok := strings.CutPrefix(m.Source, "/var/lib/kubelet"); ok {
		m.Source = root + rest
	}
	if !strings.HasPrefix(m.Destination, "/") {
		m.Destination = "/" + m.Destination
	}
	propagations := map[string]string{
		"": "rprivate", "None": "rprivate", "HostToContainer": "rslave", "Bidirectional": "rshared",
		"HostToContainer (Bidirectional when privileged)": "rshared",
		"value hostRootFsMount.mountPropagation":          "rslave",
		"value":                                           "rslave",
	}
	word, ok := propagations[r[6]]
	if !ok || !slices.Contains([]string{"ro", "rw", "ro/rw"}, r[7]) || r[8] != "yes" && r[8] != "no" {
		t.Fatalf("a cell that the test does not know: %q", r)
	}
	m.Options = append(m.Options, word, map[string]string{"ro": "ro"}[r[7]])
	if r[7] != "ro" {
		m.Options[len(m.Options)-1] = "rw"
	}
	return m
}
