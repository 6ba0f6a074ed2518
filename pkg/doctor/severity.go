package doctor

import (
	"cmp"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
)

// severest are the codes that come before all others, the worst first: what lets
// containers fail, or their mounts reach nobody, then what grows until no mount
// can be made.
func severest() []string {
	return []string{
		CodeNotShared, CodeSlaveOnly, CodeCRIMisjudges, codeRequiredMissing, CodeVolumeHidden,
		CodeNotLinked, CodeDownstreamOnly, CodeNamespacesApart, CodeUnresolved, CodeNRIMisjudges,
		CodeMountMax, CodeGrowth, CodeDoubling, CodeKubeletStack, CodeStacked, CodeAmplification,
	}
}

// inOrder sorts findings: problems, what cannot be told, what is sound; the
// first two by how severe they are, the last as the checks gave them.
func inOrder(all []Finding) {
	severity := map[string]int{}
	for i, code := range severest() {
		severity[code] = i - len(severest())
	}
	answers := []facts.Truth{facts.No, facts.Unknown, facts.Yes}
	slices.SortStableFunc(all, func(a, b Finding) int {
		if a.Answer != b.Answer {
			return cmp.Compare(slices.Index(answers, a.Answer), slices.Index(answers, b.Answer))
		}
		if a.Answer == facts.Yes {
			return 0
		}
		return cmp.Compare(severity[a.Code], severity[b.Code])
	})
}
