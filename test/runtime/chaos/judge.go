//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mountward/mountward/test/runtime/harness"
)

// groups are the peer groups of the host that were there all the time. Only
// those tell: the number of a group that is gone is given to another one.
type groups map[int]bool

// lasting are the groups of mounts that are in both tables.
func lasting(before, after harness.Mounts) groups {
	is := make(map[int]int, len(after)) // mount to group
	for _, m := range after {
		is[m.ID] = m.Shared
	}
	all := make(groups)
	for _, m := range before {
		if m.Shared != 0 && is[m.ID] == m.Shared {
			all[m.Shared] = true
		}
	}
	return all
}

func (g groups) reach(m *harness.Mount) reach {
	switch {
	case m.Shared != 0 && g[m.Shared]:
		return both
	case m.Master != 0 && g[m.Master]:
		return down
	}
	return nothing
}

// verdict is what a report shows.
type verdict struct {
	more []string // more than the policy allows
	less []string // less than it decided
	same []string // as asked, where it decided otherwise; all of them are in more or less
	own  []string // shared with the host by the runtime, which mounts it without being asked
}

// judge compares the mounts that a container had when its own code ran with
// what the policy says of its shape.
func (s shape) judge(static bool, table harness.Mounts, host groups) verdict {
	var v verdict
	known := make(map[string]bool)
	for _, vol := range s.volumes {
		known[vol.at] = true
		m := table.At(vol.at)
		if m == nil {
			v.less = append(v.less, vol.at+": not mounted")
			continue
		}
		got := host.reach(m)
		text := fmt.Sprintf("%s: %s (shared:%d master:%d), the policy says %s", vol.at, got, m.Shared, m.Master, vol.want)
		switch {
		case vol.deny && !static:
			v.more = append(v.more, fmt.Sprintf("%s: %s, the policy refuses the container", vol.at, got))
		case got > vol.want:
			v.more = append(v.more, text)
		case got < vol.want:
			v.less = append(v.less, text)
		}
		if got != vol.want && got == asks(vol.asked) {
			v.same = append(v.same, text)
		}
	}
	for i := range table {
		m := &table[i]
		if known[m.Point] || under(known, m.Point) || host.reach(m) != both {
			continue
		}
		text := fmt.Sprintf("%s: shares group %d with the host, and nobody asked for that", m.Point, m.Shared)
		if m.FSType == "cgroup" {
			// runc binds the host's hierarchies of cgroup v1 without a word, so
			// that they become what rootfsPropagation says.
			v.own = append(v.own, text)
			continue
		}
		v.more = append(v.more, text)
	}
	return v
}

// under says whether a mount came along with one of the volumes.
func under(volumes map[string]bool, point string) bool {
	for at := range volumes {
		if strings.HasPrefix(point, at+"/") {
			return true
		}
	}
	return false
}

// ran returns the mount table that a container reported, nil if its own code
// never ran.
func (c *chaos) ran(key string) (harness.Mounts, error) {
	f, err := os.Open(filepath.Join(c.reports, key))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read report: %w", err)
	}
	defer f.Close()
	return harness.ParseMountinfo(f)
}

// judgeAll judges every container that reported since the run began.
func (c *chaos) judgeAll(host groups) error {
	for _, t := range c.history.tries() {
		table, err := c.ran(t.key)
		if err != nil {
			return err
		}
		if table == nil {
			continue
		}
		c.count("started", 1)
		v := t.shape.judge(t.static, table, host)
		if t.users != nil && len(v.same) > 0 {
			// Nothing in its specification says what was decided: a kill between
			// creation and start leaves it as asked, until it is found.
			t.missed = true
			c.count("namespace_missed", 1)
			continue
		}
		if len(v.own) > 0 {
			c.count("cgroups_shared", 1)
		}
		if len(v.more) > 0 {
			c.fault("forbidden_started", t.key, strings.Join(v.more, "; "))
		}
		if len(v.same) > 0 {
			c.fault("unadjusted", t.key, strings.Join(v.same, "; "))
		} else if len(v.less) > 0 {
			c.fault("less_than_decided", t.key, strings.Join(v.less, "; "))
		}
	}
	return nil
}
