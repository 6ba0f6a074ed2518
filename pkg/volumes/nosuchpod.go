package volumes

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/internal/words"
)

// noSuchPods are the mounts in directories of pods that have no container here.
func (m marker) noSuchPods(ctx context.Context) []Mark {
	if m.KubeletRoot == "" {
		return nil
	}
	known := map[string]bool{}
	for _, member := range m.members {
		known[member.Container.Pod.UID] = true
	}
	root := m.canonical(ctx, m.KubeletRoot)
	mounts := map[string][]hostview.Entry{}
	for e := range m.table.All() {
		// Whether a mount can be seen takes longer, and is asked of few.
		rest, ok := strings.CutPrefix(e.MountPoint, root+"/pods/")
		uid, _, _ := strings.Cut(rest, "/")
		if _, met := mounts[uid]; ok && !known[uid] && !met {
			dir := root + "/pods/" + uid
			mounts[uid] = m.table.Below(dir)
			if at, ok := m.table.At(dir); ok {
				mounts[uid] = append([]hostview.Entry{at}, mounts[uid]...)
			}
		}
	}
	var marks []Mark
	for _, uid := range slices.Sorted(maps.Keys(mounts)) {
		if len(mounts[uid]) == 0 {
			continue
		}
		marks = append(marks, Mark{
			Code: MarkNoSuchPod, Path: root + "/pods/" + uid,
			Why:      words.Count(len(mounts[uid]), "mount") + " of a pod that has no container on this node; a pod that just starts or ends looks the same",
			Evidence: evidence(mounts[uid]), Backing: m.first(ctx, mounts[uid]),
		})
	}
	return marks
}

// first is the backing of the first mount on a logical volume, else on a block
// device, else of the first; with all volumes where they are several.
func (m marker) first(ctx context.Context, mounts []hostview.Entry) Backing {
	var best Backing
	var lvs []string
	met := map[string]bool{}
	for i, e := range mounts {
		b := m.backing(ctx, e)
		if i == 0 || best.LV == "" && (b.LV != "" || best.Name == "" && b.Name != "") {
			best = b
		}
		for _, lv := range append([]string{b.LV}, b.LVs...) {
			if lv != "" && !met[lv] {
				met[lv] = true
				lvs = append(lvs, lv)
			}
		}
	}
	if len(lvs) > 1 {
		best.LVs = lvs
	}
	return best
}
