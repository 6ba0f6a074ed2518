package hazard

import (
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
)

// rroReceives finds mounts that promise to be read-only all the way down, and
// receive mounts later that are not.
func (c *checker) rroReceives() {
	for i, m := range c.Mounts {
		if m.Bind() && m.RecursiveReadOnly() && m.Propagation.Reach() > facts.Private.Reach() && !m.runtimesSys() {
			c.report(facts.HazardRROReceives, fmt.Sprintf("is recursively read-only and %s: a mount that arrives later is writable", option(m.Propagation)), i)
		}
	}
}

// runtimesSys reports the /sys that containerd binds into a pod with a user
// namespace and the host's network. Nobody asked for it, and nobody can change it.
//
// Source: internal/cri/server/container_create.go of containerd 2.4.2.
func (m Mount) runtimesSys() bool {
	return m.Source == "/sys" && m.Destination == "/sys" && m.Asked == facts.Unset
}

// readOnly finds read-only binds of places where other mounts are, or come.
func (c *checker) readOnly() {
	for i, m := range c.Mounts {
		if !m.Bind() || !m.ReadOnly() || m.RecursiveReadOnly() {
			continue
		}
		if m.Propagation == facts.Slave || m.Propagation == facts.Shared {
			c.report(facts.HazardROSubmounts, fmt.Sprintf("is read-only and %s: mounts below it, of now and of later, are as writable as on the host", option(m.Propagation)), i)
			continue
		}
		if place := c.holds(m); place != "" {
			c.report(facts.HazardROSubmounts, fmt.Sprintf("is read-only, but the mounts in %s that come with it are as writable as on the host", place), i)
		}
	}
}

// holds names what of the node is mounted below a source.
func (c *checker) holds(m Mount) string {
	for _, s := range m.Sources() {
		if root := c.Host.KubeletRoot; root != "" && facts.Within(root, s) {
			return "the kubelet's root " + name(root)
		}
		if state := c.Host.RuntimeState; state != "" && facts.Within(state, s) {
			return "the runtime's state " + name(state)
		}
		if root := c.Host.KubeletRoot; root != "" && (s == root+"/pods" || s == root+"/plugins") {
			return "the kubelet's " + name(s)
		}
	}
	return ""
}

// writableSubmounts is what the kernel shows of the same.
func (c *checker) writableSubmounts() {
	for i, m := range c.Mounts {
		if m.Writable > 0 {
			c.report(facts.HazardROSubmounts, fmt.Sprintf("is read-only, but %s below it: %s", writable(m.Writable), name(m.WritableAt)), i)
		}
	}
}

func writable(n int) string {
	if n == 1 {
		return "a writable mount is"
	}
	return fmt.Sprintf("%d writable mounts are", n)
}

// pinForBusy finds mounts that were decided to follow the host where volumes
// come and go.
func (c *checker) pinForBusy() {
	if c.Stage != facts.StageDecided {
		return
	}
	for i, m := range c.Mounts {
		if !m.Bind() || m.Propagation.Reach() <= m.Asked.Reach() || m.Asked.Reach() != facts.Private.Reach() {
			continue
		}
		place := c.holds(m)
		if place == "" {
			place = c.isBelow(m)
		}
		if place != "" {
			c.report(facts.HazardPinForBusy, fmt.Sprintf("is raised to %s over %s: it pins no volume any more, but one cannot be unmounted (EBUSY) while the container holds a file open in it",
				option(m.Propagation), place), i)
		}
	}
}

// isBelow names the place of the node that a source is in.
func (c *checker) isBelow(m Mount) string {
	for _, s := range m.Sources() {
		if root := c.Host.KubeletRoot; root != "" && facts.Within(s, root) {
			return "the kubelet's root " + name(root)
		}
		if state := c.Host.RuntimeState; state != "" && facts.Within(s, state) {
			return "the runtime's state " + name(state)
		}
	}
	return ""
}

// option is the OCI word of a propagation, and says where there is none.
func option(p facts.Propagation) string {
	if o := p.Option(); o != "" {
		return o
	}
	return "without a propagation word"
}
