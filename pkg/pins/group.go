package pins

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/internal/words"
)

// Group is one mount namespace that holds many: mounts of more than one pod, or
// more than one target.
type Group struct {
	Holder    string `json:"holder"` // in a few words
	Namespace uint64 `json:"namespace"`
	PID       int    `json:"pid,omitempty"`
	Mounts    int    `json:"mounts"`
	Targets   int    `json:"targets"`
	Pods      int    `json:"pods"`
	DeadPods  int    `json:"dead_pods"` // of them, those without a container on the node
}

// Groups finds in reports of one pass the namespaces that hold many, the one
// that holds most first. A pod's own volumes do not count.
func Groups(reports []Report) []Group {
	type sums struct {
		Group
		pods map[string]bool // whether it is gone
	}
	all := map[uint64]*sums{}
	for _, r := range reports {
		for i := range r.Holders {
			h := &r.Holders[i]
			if h.Kind != KindMount || h.Use != UseCopy {
				continue
			}
			g := all[h.Namespace]
			if g == nil {
				g = &sums{Group: Group{Holder: h.Name(), Namespace: h.Namespace}, pods: map[string]bool{}}
				if len(h.Processes) > 0 {
					g.PID = h.Processes[0].PID
				}
				all[h.Namespace] = g
			}
			g.Targets++
			g.Mounts += len(h.Mounts) + h.MountsOmitted
			for _, m := range h.Mounts {
				if m.PodUID != "" {
					g.pods[m.PodUID] = m.PodGone
				}
			}
		}
	}
	var groups []Group
	for _, g := range all {
		if g.Pods = len(g.pods); g.Pods < 2 && g.Targets < 2 {
			continue
		}
		for _, gone := range g.pods {
			if gone {
				g.DeadPods++
			}
		}
		groups = append(groups, g.Group)
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(-cmp.Compare(a.Mounts, b.Mounts), strings.Compare(a.Holder, b.Holder), cmp.Compare(a.Namespace, b.Namespace))
	})
	return groups
}

// String is the group in a sentence: "container x of pod a/b pins 41 mounts of
// 12 dead pods".
func (g Group) String() string {
	of := words.Count(g.Targets, "volume")
	switch {
	case g.Pods > 0 && g.DeadPods == g.Pods:
		of = words.Count(g.Pods, "dead pod")
	case g.DeadPods > 0:
		of = fmt.Sprintf("%s, of which %d are dead", words.Count(g.Pods, "pod"), g.DeadPods)
	case g.Pods > 0:
		of = words.Count(g.Pods, "pod")
	}
	return fmt.Sprintf("%s pins %s of %s", g.Holder, words.Count(g.Mounts, "mount"), of)
}
