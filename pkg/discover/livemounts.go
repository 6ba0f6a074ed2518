package discover

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// mostRoots bounds the roots that are told of.
const mostRoots = 16

// liveRoots returns the directories below which a kubelet's volumes are
// mounted: at <root>/pods/<uid>/volumes/kubernetes.io~*. The one with the most
// comes first; of two with as many, the one that prefer is, then the shorter.
func liveRoots(tables []*hostview.Table, prefer string) []Live {
	type seen struct {
		Live
		volumes, pods map[string]bool
	}
	roots := map[string]*seen{}
	for _, t := range tables {
		for e := range t.All() {
			if !strings.Contains(e.MountPoint, "/volumes/kubernetes.io~") {
				continue
			}
			k, ok := facts.ParseKubeletPath(e.MountPoint, "")
			if !ok || k.PodUID == "" || k.Role != facts.PathTarget {
				continue
			}
			s := roots[k.Root]
			if s == nil {
				if len(roots) == mostRoots {
					continue
				}
				s = &seen{Live: Live{Root: k.Root, Line: e.Line()}, volumes: map[string]bool{}, pods: map[string]bool{}}
				roots[k.Root] = s
			}
			s.volumes[e.MountPoint] = true // stacked, or in several tables: one
			s.pods[k.PodUID] = true
		}
	}
	all := make([]Live, 0, len(roots))
	for _, s := range roots {
		s.Volumes, s.Pods = len(s.volumes), len(s.pods)
		all = append(all, s.Live)
	}
	slices.SortFunc(all, func(a, b Live) int {
		return cmp.Or(cmp.Compare(b.Volumes, a.Volumes), -compareBool(a.Root == prefer, b.Root == prefer),
			cmp.Compare(len(a.Root), len(b.Root)), strings.Compare(a.Root, b.Root))
	})
	return all
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	default:
		return -1
	}
}
