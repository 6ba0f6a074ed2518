package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// CodeGrowth is of a mount table that has grown since the baseline.
const CodeGrowth = "mounts-grow"

// What growth is a problem: by a quarter and at least so many mounts, beside so
// many for each container that was added. A container makes about five in the
// host's table: its root filesystem, its pod's, a token and some volumes.
const (
	growthLeast        = 100
	growthPart         = 4
	growthPerContainer = 10
)

// growth compares the tables of the places, each namespace once.
func (b Baseline) growth(sizes []Size, containers int) []Finding {
	var all []Finding
	seen := map[uint64]bool{}
	for _, now := range sizes {
		i := slices.IndexFunc(b.sizes, func(s Size) bool { return s.Role == now.Role })
		if i < 0 || !b.sizes[i].known() || seen[now.Inode] && now.Inode != 0 {
			continue // the baseline does not know it, or it was compared already
		}
		seen[now.Inode] = true
		all = append(all, grown(b.sizes[i], now, containers-b.containers))
	}
	return all
}

// grown is the finding about one table.
func grown(before, now Size, added int) Finding {
	f := Finding{Code: CodeGrowth, Subject: "mount table of " + now.Role}
	if !now.known() {
		f.Message = "whether it has grown: " + cmp.Or(now.Why, "there is no table")
		return f
	}
	f.Amount = now.Mounts
	more := now.Mounts - before.Mounts
	f.Answer = facts.Yes
	f.Message = fmt.Sprintf("%d mounts, %d in the baseline, with %+d containers", now.Mounts, before.Mounts, added)
	f.Evidence = []Evidence{{Text: fmt.Sprintf("%d mounts", now.Mounts), Show: now.show()}}
	unexplained := more - growthPerContainer*max(added, 0)
	if unexplained < growthLeast || unexplained*growthPart < before.Mounts {
		return f
	}
	f.Answer = facts.No
	f.Cause = "what grew: " + most(before.Types, now.Types)
	f.Effect = "each start of a container, systemd and every reader of the table get slower; at fs.mount-max every mount fails with \"no space left on device\""
	f.Fixes = []Fix{{
		What:     "find the mount points that are there more than once, and who makes them",
		Commands: []string{fmt.Sprintf("awk '{print $5}' /proc/%d/mountinfo | sort | uniq -c | sort -rn | head", now.PID)},
	}}
	return f
}

// most names the types of file systems that grew, the most first.
func most(before, now map[string]int) string {
	const most = 5
	types := slices.SortedFunc(maps.Keys(now), func(a, b string) int {
		return cmp.Or(cmp.Compare(now[b]-before[b], now[a]-before[a]), cmp.Compare(a, b))
	})
	var words []string
	for _, t := range types {
		if more := now[t] - before[t]; more > 0 && len(words) < most {
			words = append(words, fmt.Sprintf("%s +%d", t, more))
		}
	}
	return strings.Join(words, ", ")
}
