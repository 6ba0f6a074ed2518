// Package workloads reads tables of the hostPath mounts of containers, as they
// are collected from manifests. The one that is shipped,
// config/examples/workloads.csv, has those of real storage, network, GPU and
// monitoring agents, so that people and tests can ask what a policy or a check
// does to them.
package workloads

import (
	"fmt"
	"os"

	"github.com/mountward/mountward/pkg/facts"
)

// Workload is one container of a table.
type Workload struct {
	Name      string // PROJECT / WORKLOAD / CONTAINER
	Container facts.Container
}

// least is how many containers the shipped table has at least, so that one that
// lost some is noticed.
const least = 60

// Read reads the shipped table at path, with the kubelet at root, and computes
// the roles.
func Read(path, root string) ([]Workload, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	all, err := Parse(path, file, root)
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].Container.Role = facts.Role(all[i].Container.Mounts, root)
	}
	if len(all) < least {
		return nil, fmt.Errorf("read %s: %d containers, it has lost some", path, len(all))
	}
	return all, nil
}
