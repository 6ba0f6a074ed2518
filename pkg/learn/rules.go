package learn

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/policy"
)

// rule is one rule of the learned policy.
type rule struct {
	name       string
	of         workload
	containers []string // globs
	sources    []string // globs
	kinds      kinds
	except     []string // globs for pods of other workloads that the glob for this one's holds
	strange    bool     // Kubernetes would not make such a name
}

// privateName names the rule for mounts that let nothing through.
const privateName = "private-mounts"

// rules returns the rules of all workloads, sorted.
func (b *book) rules() []rule {
	var all []rule
	names := map[string]bool{}
	for _, w := range b.workloads() {
		except := b.others(w)
		for _, r := range merge(b.grants(w)) {
			r.of, r.except = w, except
			r.name = unique(names, w.String()+": "+strings.Join(r.containers, ",")+": "+r.kinds.words()[0])
			all = append(all, r)
		}
	}
	return all
}

func (b *book) workloads() []workload {
	return slices.SortedFunc(maps.Keys(b.seen), func(x, y workload) int {
		return cmp.Or(cmp.Compare(x.namespace, y.namespace), cmp.Compare(x.name, y.name), cmp.Compare(x.pods, y.pods))
	})
}

// grants returns a rule for each container and kind.
func (b *book) grants(w workload) []rule {
	var all []rule
	for _, name := range slices.Sorted(maps.Keys(b.seen[w])) {
		by := map[kinds][]string{}
		for source, seen := range b.seen[w][name] {
			by[seen.allowed()] = append(by[seen.allowed()], source)
		}
		for _, k := range slices.Sorted(maps.Keys(by)) {
			slices.Sort(by[k])
			all = append(all, rule{containers: []string{policy.Literal(name)}, kinds: k, sources: by[k]})
		}
	}
	return all
}

// merge makes one rule of those that differ in the container alone.
func merge(rules []rule) []rule {
	var all []rule
next:
	for _, r := range rules {
		for i := range all {
			if all[i].kinds == r.kinds && slices.Equal(all[i].sources, r.sources) {
				all[i].containers = append(all[i].containers, r.containers...)
				continue next
			}
		}
		all = append(all, r)
	}
	return all
}

// others returns the globs of other workloads of the namespace that have pods with
// names which the glob of this one holds: web-* holds those of web-admin.
func (b *book) others(w workload) []string {
	var all []string
	for _, other := range b.workloads() {
		if other == w || other.namespace != w.namespace {
			continue
		}
		if slices.ContainsFunc(b.pods[other], func(pod string) bool { return policy.MatchName(w.pods, pod) }) {
			all = append(all, other.pods)
		}
	}
	return all
}

// maxRuleName bounds the name of a rule, which a refusal shows.
const maxRuleName = 90

// unique makes a name for a rule that a terminal can show and no other rule has. A
// name that had to be changed ends in a checksum of what it was.
func unique(taken map[string]bool, text string) string {
	name := strings.Map(func(r rune) rune {
		if r >= ' ' && r < 0x7f && !strings.ContainsRune(`"\`, r) {
			return r
		}
		return '_'
	}, text)
	if name != text || len(name) > maxRuleName || taken[name] {
		digest := sha256.Sum256([]byte(text))
		name = name[:min(len(name), maxRuleName-9)] + "-" + hex.EncodeToString(digest[:4])
	}
	for base := name; taken[name]; {
		base += "+"
		name = base
	}
	taken[name] = true
	return name
}
