// Package workloads reads the hostPath mounts of real storage, network and
// monitoring agents, collected from their own manifests, so that tests can ask
// what a policy or a check does to them.
package workloads

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// Workload is one container of the table.
type Workload struct {
	Name      string // PROJECT / WORKLOAD / CONTAINER
	Container facts.Container
}

// least is how many containers the table has at least, so that one that lost
// some is noticed.
const least = 60

// Read reads the table, with the kubelet at root.
func Read(path, root string) ([]Workload, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	want := []string{"source", "project", "workload", "container", "hostPath", "mountPath", "mountPropagation", "readOnly", "privileged"}
	if len(records) == 0 || !slices.Equal(records[0], want) {
		return nil, fmt.Errorf("read %s: the first line is not %q", path, want)
	}
	var all []Workload
	index := map[string]int{}
	for _, r := range records[1:] {
		group := strings.Join(r[:4], "\x00")
		i, ok := index[group]
		if !ok {
			i = len(all)
			index[group] = i
			all = append(all, Workload{
				Name: strings.Join(r[1:4], " / "),
				Container: facts.Container{
					Name: strings.TrimPrefix(r[3], "init:"), Pod: facts.Pod{Name: r[2]},
					Privileged: facts.Is(r[8] == "yes", "the manifest says so"),
				},
			})
		}
		m, err := mount(r, root)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		all[i].Container.Mounts = append(all[i].Container.Mounts, m)
	}
	for i := range all {
		all[i].Container.Role = facts.Role(all[i].Container.Mounts, root)
	}
	if len(all) < least {
		return nil, fmt.Errorf("read %s: %d containers, it has lost some", path, len(all))
	}
	return all, nil
}

// mount makes the mount that the kubelet asks the runtime for. Some cells of the
// table hold what their chart computes: a source without a path is an emptyDir
// or a directory of the chart's choice, and of several propagations or access
// modes the one that lets more through is taken, since a decision must be right
// for it too.
func mount(r []string, root string) (facts.Mount, error) {
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
		return m, fmt.Errorf("a cell that is not known: %q", r)
	}
	mode := "rw"
	if r[7] == "ro" {
		mode = "ro"
	}
	m.Options = append(m.Options, word, mode)
	return m, nil
}
