package volumes

import (
	"context"
	"errors"
	"io/fs"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// orphans are root filesystems that are mounted where no task is. Each is looked
// at once more: a task may have started or ended meanwhile.
func (m marker) orphans(ctx context.Context) []Mark {
	running := map[string]bool{}
	for _, f := range m.found {
		if f != nil && !f.gone && (f.running || f.Identity.Truth == facts.No) {
			running[f.Bundle.Dir] = true
		}
	}
	var marks []Mark
	for e := range m.table.All() {
		b, ok := bundleOf(e.MountPoint)
		if !ok || running[b.Dir] {
			continue
		}
		if top, ok := m.table.At(e.MountPoint); !ok || top.ID != e.ID {
			continue
		}
		why := m.orphaned(ctx, b, e)
		if why == "" {
			continue
		}
		marks = append(marks, Mark{
			Code: MarkOrphanRootfs, Path: e.MountPoint, Why: why, Evidence: []string{line(e)}, Backing: m.backing(ctx, e),
		})
	}
	return marks
}

// orphaned says why a root filesystem has no task, "" where it has one or is
// not mounted any more.
func (m marker) orphaned(ctx context.Context, b hostview.Bundle, e hostview.Entry) string {
	at, err := m.Lookup(ctx, e.MountPoint)
	if err != nil || at.MountPoint != e.MountPoint || at.Device != e.Device {
		return ""
	}
	if _, err := m.Lookup(ctx, b.Dir+"/config.json"); errors.Is(err, fs.ErrNotExist) {
		return "the root filesystem of a task that is not there: its bundle has no config.json"
	}
	pid, err := m.InitPID(ctx, b)
	if errors.Is(err, fs.ErrNotExist) {
		return "the root filesystem of a task that has no process; one that is just being made looks the same"
	}
	if err != nil {
		return ""
	}
	if answer, _, alive := m.prove(ctx, pid, b.Rootfs()); answer.Truth == facts.Unknown && !alive {
		return "the root filesystem of a task whose process is gone; one that has just ended looks the same"
	}
	return ""
}
