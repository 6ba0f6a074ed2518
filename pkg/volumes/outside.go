package volumes

import (
	"context"
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// blocks returns the file systems of a container's table that are on block
// devices, each once.
func blocks(table *hostview.Table) []hostview.Entry {
	var all []hostview.Entry
	met := map[facts.DeviceNumber]bool{}
	for e := range table.All() {
		if (e.Device.Major != 0 || e.FSType == "btrfs") && !met[e.Device] {
			met[e.Device] = true
			all = append(all, e)
		}
	}
	return all
}

// outside are file systems that a container has mounted and the host has
// nowhere, hidden places included. The host's table is younger than the
// container's, so that the container is asked once more.
func (m marker) outside(ctx context.Context) []Mark {
	var numbers []facts.DeviceNumber
	holders := map[facts.DeviceNumber][]*finding{}
	entries := map[facts.DeviceNumber][]hostview.Entry{}
	for _, f := range m.sorted() {
		for _, e := range m.nowhere(ctx, f) {
			if holders[e.Device] == nil {
				numbers = append(numbers, e.Device)
			}
			holders[e.Device] = append(holders[e.Device], f)
			entries[e.Device] = append(entries[e.Device], e)
		}
	}
	var marks []Mark
	for _, n := range numbers {
		first, f := entries[n][0], holders[n][0]
		why := "mounted in " + describe(f.Member)
		if more := len(holders[n]) - 1; more > 0 {
			why += fmt.Sprintf(" and %d more", more)
		}
		marks = append(marks, Mark{
			Code: MarkOutside, Path: first.MountPoint, Why: why + ", and nowhere on the host",
			Evidence: evidence(entries[n]), Backing: m.inside(ctx, first),
		})
	}
	return marks
}

// sorted are the findings in the order of the members.
func (m marker) sorted() []*finding {
	by := map[string]*finding{}
	for _, f := range m.found {
		if f != nil && !f.gone {
			by[f.Bundle.Dir] = f
		}
	}
	var all []*finding
	for _, member := range m.members {
		all = append(all, by[member.Bundle.Dir])
	}
	return all
}

// nowhere are the file systems that the host does not have mounted, and that the
// container has now.
func (m marker) nowhere(ctx context.Context, f *finding) []hostview.Entry {
	missing := keep(f.blocks, func(e hostview.Entry) bool { return !m.table.Mounted(e.Device) })
	if len(missing) == 0 {
		return nil
	}
	answer, table, _ := m.prove(ctx, f.PID, f.Bundle.Rootfs())
	if answer.Truth != facts.Yes {
		return nil
	}
	return keep(missing, func(e hostview.Entry) bool { return table.Mounted(e.Device) })
}

// inside resolves a superblock that no path of the host leads to.
func (m marker) inside(ctx context.Context, e hostview.Entry) Backing {
	return newMapper(Sources{Host: m.machine, Devices: m.Devices}).backing(ctx, superblockOf(e, ""))
}

// describe names a container for people.
func describe(m Member) string {
	c := m.Container
	if c.Pod.Name == "" {
		return "container " + c.ID
	}
	if m.Sandbox {
		return fmt.Sprintf("the pause container of pod %s/%s", c.Pod.Namespace, c.Pod.Name)
	}
	return fmt.Sprintf("container %s of pod %s/%s", c.Name, c.Pod.Namespace, c.Pod.Name)
}
