package audit

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/volumes"
)

// Leftover is recorded some time after the end of a container of which
// something is still mounted on the host. Nothing is unmounted.
type Leftover struct {
	Container Container       `json:"container"`
	Mounts    []LeftoverMount `json:"mounts"`
}

// LeftoverMount is one mount that is left.
type LeftoverMount struct {
	Code   string `json:"code"` // of pkg/leftover
	Path   string `json:"path"` // of the host
	Why    string `json:"why"`
	Count  int    `json:"count"` // of the same thing at the same place
	FSType string `json:"fs_type,omitempty"`
	Line   string `json:"evidence,omitempty"`
	volumes.Backing
}

func (l Leftover) describe() description {
	desc := description{kind: kindLeftover(), priority: prioWarning, message: l.headline()}
	f := &desc.fields
	f.container(l.Container)
	var mounts, lvs, devices []string
	for _, m := range l.Mounts {
		mounts = append(mounts, leftoverText(m))
		lvs = append(append(lvs, m.LV), m.LVs...)
		devices = append(devices, number(m.Backing))
	}
	f.each("MOUNTWARD_MOUNT", mounts)
	f.each("MOUNTWARD_LV", lvs)
	f.each("MOUNTWARD_DEVICE", devices)
	return desc
}

// leftoverText is one MOUNTWARD_MOUNT: the path of the host as it is and why it
// is told.
func leftoverText(m LeftoverMount) string {
	parts := []string{m.Path, m.Code}
	for _, part := range []string{m.FSType, number(m.Backing), m.LV} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " ") + ": " + m.Why
}

func (l Leftover) headline() string {
	var named []string
	for _, m := range l.Mounts[:min(len(l.Mounts), maxNamed)] {
		named = append(named, fmt.Sprintf("%s on %s (%s)", word(m.Path), place(m.Backing), m.Why))
	}
	if more := len(l.Mounts) - maxNamed; more > 0 {
		named = append(named, fmt.Sprintf("and %d more", more))
	}
	return fmt.Sprintf("%s has ended and left %s on the host: %s", l.Container, words.Count(len(l.Mounts), "mount"), strings.Join(named, ", "))
}

func (l Leftover) copied() (event Event, size int64) {
	l.Container = l.Container.copied()
	mounts := make([]LeftoverMount, len(l.Mounts))
	for i, m := range l.Mounts {
		m.LVs = append([]string(nil), m.LVs...)
		mounts[i] = m
	}
	l.Mounts = mounts
	return l, itemsSize(len(l.Mounts))
}
