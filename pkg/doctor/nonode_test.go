package doctor

import (
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// TestAMachineThatRunsNoPodsHasNoProblem where nothing says that it is a node;
// one sign of a node is enough for one.
func TestAMachineThatRunsNoPodsHasNoProblem(t *testing.T) {
	laptop := func() textHost { return textHost{}.process(1, "systemd", "/sbin/init", hostNS, private) }
	const root = "/var/lib/kubelet"
	three := func(answer facts.Truth, code string) (all []want) {
		for _, path := range []string{root, root + "/pods", root + "/plugins"} {
			all = append(all, want{answer: answer, code: code, subject: path})
		}
		return all
	}
	for name, test := range map[string]struct {
		host    textHost
		require []string
		want    []want
	}{
		"nothing of a node":       {laptop(), nil, []want{{answer: facts.Unknown, code: CodeNoNode, subject: root, evidence: "25 1 253:1", says: "no kubelet and no containerd was found~does not exist~(id 25, private)"}}},
		"it would work":           {textHost{}.process(1, "systemd", "/sbin/init", hostNS, sharedAll), nil, three(facts.Yes, CodeShared)},
		"the directory is there":  {laptop().with(map[string]string{root + "/x": ""}), nil, three(facts.No, CodeNotShared)},
		"a kubelet runs":          {laptop().process(900, "kubelet", "kubelet", hostNS, private), nil, three(facts.No, CodeNotShared)},
		"a containerd runs":       {laptop().process(812, "containerd", "containerd", hostNS, private), nil, three(facts.No, CodeNotShared)},
		"the settings name paths": {laptop(), []string{"/srv", root}, []want{{answer: facts.No, code: CodeNotShared, subject: root}, {answer: facts.No, code: CodeNotShared, subject: "/srv"}}},
	} {
		t.Run(name, func(t *testing.T) {
			m := test.host.machine(t)
			m.Host.RequireShared = test.require
			r, _ := m.findings(t, Check{"propagation", checkPropagation})
			compare(t, r.Findings, test.want)
			if none := test.want[0].code == CodeNoNode; none != (r.Exit() == 2) {
				t.Errorf("exit %d", r.Exit())
			}
		})
	}
}
