package hazard

import (
	"fmt"
	"path"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// duplicates finds destinations of several mounts: as they are written, or
// after cleaning; at the start also what links of the image made one.
func (c *checker) duplicates() {
	at := make(map[string][]int, len(c.Mounts))
	places := c.clean
	if c.Stage == facts.StageMounted {
		places = c.landed
	}
	for i, p := range places {
		at[p] = append(at[p], i)
	}
	for i, p := range places {
		if same := at[p]; same[0] == i && len(same) > 1 {
			c.report(facts.HazardDuplicate, fmt.Sprintf("is the destination of %d mounts: only the last is seen, and none can be given another propagation", len(same)), same...)
		}
	}
}

// unclean finds destinations that do not say where they are.
func (c *checker) unclean() {
	for i, m := range c.Mounts {
		var why string
		switch d := m.Destination; {
		case d == "":
			why = "it is empty, and the mount lies over the container's root file system"
		case strings.HasPrefix(d, "-"):
			why = `it starts with "-", which NRI reads as the removal of a mount`
		case !path.IsAbs(d):
			why = "it is relative, and the runtime puts a / before it"
		case strings.Contains(d+"/", "/../"):
			why = `it has "..", and leads to ` + name(c.clean[i])
		default:
			continue
		}
		c.report(facts.HazardUnclean, "is no clean absolute path: "+why, i)
	}
}

// shadowed finds binds that a later mount at a directory above hides. What the
// runtime mounts for every container may be hidden.
func (c *checker) shadowed() {
	lies := c.lies
	if c.Stage != facts.StageMounted {
		lies = newNest(c.clean).stack()
	}
	for i, m := range c.Mounts {
		if by := lies.hidden[i]; by >= 0 && m.Bind() {
			c.report(facts.HazardShadowed, fmt.Sprintf("is hidden by the mount %s, which is made after it", c.destination(by)), i, by)
		}
	}
}

// taskDir is where containerd keeps the bundles, below its state.
const taskDir = "io.containerd.runtime.v2.task"

// ownBundle finds binds of the container's own bundle, which is made after the
// list was.
func (c *checker) ownBundle() {
	if c.Host.RuntimeState == "" || c.ContainerID == "" {
		return
	}
	tasks := path.Join(c.Host.RuntimeState, taskDir)
	for i, m := range c.Mounts {
		if !m.Bind() {
			continue
		}
		for _, s := range m.Sources() {
			rest, ok := facts.Below(s, tasks)
			if steps := strings.SplitN(rest, "/", 3); ok && len(steps) > 1 && steps[1] == c.ContainerID {
				c.report(facts.HazardOwnRootfs, "shows the container's own bundle "+name(s)+": its root file system inside itself", i)
				break
			}
		}
	}
}

// ownRootfs is what the kernel shows of the same, whatever the path was.
func (c *checker) ownRootfs() {
	for i, m := range c.Mounts {
		if m.OwnRootfs {
			c.report(facts.HazardOwnRootfs, "shows the root file system of its own container", i)
		}
	}
}
