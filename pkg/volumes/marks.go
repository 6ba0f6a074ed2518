package volumes

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// marker looks for what a person should look at.
type marker struct {
	surveyor
	table   *hostview.Table                 // of the host, read after the containers
	overlay func() (*hostview.Table, error) // the same with options, read when it is first needed
	members []Member
	found   []*finding
	whole   bool // all containers of the node are known, with their pods
}

// maxEvidence bounds the lines of one mark.
const maxEvidence = 8

func (m marker) marks(ctx context.Context, s *Survey) {
	if m.whole {
		s.Marks = append(s.Marks, m.orphans(ctx)...)
		if m.StatesWhy == "" {
			s.Marks = append(s.Marks, m.noSuchPods(ctx)...)
		} else {
			s.Unknown = append(s.Unknown, Unknown{What: "marks " + MarkNoSuchPod, Why: m.StatesWhy})
		}
	} else if len(m.States) > 0 {
		s.Unknown = append(s.Unknown, Unknown{
			What: "marks " + MarkOrphanRootfs + " and " + MarkNoSuchPod,
			Why:  "not all containers of the node are known",
		})
	}
	s.Marks = append(s.Marks, m.outside(ctx)...)
	s.Marks = append(s.Marks, m.twins()...)
}

// backing resolves a superblock of the host's table, which does without the
// options that an overlay is resolved by.
func (m marker) backing(ctx context.Context, e hostview.Entry) Backing {
	mapper := newMapper(Sources{Host: m.machine, Devices: m.Devices})
	if e.FSType != "overlay" {
		return mapper.backing(ctx, superblockOf(e, e.MountPoint))
	}
	table, err := m.overlay()
	if err != nil {
		return mapper.told(e.Device, e.FSType, err).backing()
	}
	now, ok := table.ByID(e.ID)
	if !ok || now.Device != e.Device || now.MountPoint != e.MountPoint {
		return mapper.told(e.Device, e.FSType, errors.New("it was unmounted meanwhile")).backing()
	}
	return mapper.overlay(ctx, now, e.MountPoint).Backing
}

// line is the mount as a line of mountinfo, without the superblock's options.
func line(e hostview.Entry) string {
	state := ""
	if s := e.State.String(); s != "private" {
		state = s + " "
	}
	return fmt.Sprintf("%d %d %s %s %s %s %s- %s %s", e.ID, e.Parent, e.Device, escape(e.Root), escape(e.MountPoint), escape(e.Options), state, escape(e.FSType), escape(e.Source))
}

// escape writes text as the kernel does in its tables, and every other control
// character too.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c == '\\' || c == 0x7f {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func evidence(all []hostview.Entry) []string {
	var lines []string
	for _, e := range all[:min(maxEvidence, len(all))] {
		lines = append(lines, line(e))
	}
	if more := len(all) - maxEvidence; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}

// bundleOf returns the bundle whose root filesystem is mounted at a path, and
// false for any other path.
func bundleOf(mountPoint string) (hostview.Bundle, bool) {
	dir, name := path.Split(mountPoint)
	b := hostview.Bundle{Dir: path.Clean(dir), Found: "mount table of the host"}
	return b, name == "rootfs" && path.Base(path.Dir(path.Dir(b.Dir))) == "io.containerd.runtime.v2.task"
}

// canonical returns a path without symbolic links, as mount tables have it.
func (m marker) canonical(ctx context.Context, p string) string {
	if at, err := m.Lookup(ctx, p); err == nil {
		return at.Canonical
	}
	clean, _ := facts.CleanAbs(p)
	return clean
}
