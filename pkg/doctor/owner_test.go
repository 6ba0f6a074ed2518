package doctor

import (
	"strings"
	"testing"
)

// TestWhoMadeANamespaceIsSaidAsFarAsItIsKnown: an ancestor outside of it, and
// even its parent, can be innocent.
func TestWhoMadeANamespaceIsSaidAsFarAsItIsKnown(t *testing.T) {
	parent := func(of, is string) map[string]string {
		return map[string]string{"/proc/812/stat": "812 (containerd) S " + of + " 812 812 0 -1 4194560 1 1 1 1 1 1 1 1 20 0 1 0 100 1 1 1\n", "/proc/812/cgroup": is}
	}
	const nobody = "0::/\n"
	node := func() textHost { return ordinary(sharedAll).process(812, "containerd", "containerd", otherNS, private) }
	for name, test := range map[string]struct {
		host textHost
		says string
		not  string
	}{
		"an ancestor is outside": {
			node().process(700, "start.sh", "sh", hostNS, sharedAll, "cgroup", nobody).with(parent("700", nobody)),
			"cannot tell what made the mount namespace of runtime containerd[812]: process 700 (start.sh)~or it made or entered one by itself", "was started by",
		},
		"one that makes them is in it": {
			node().process(700, "unshare", "unshare", otherNS, private, "cgroup", nobody).with(parent("700", nobody)),
			"was started by process 700 (unshare), a program that makes or enters mount namespaces", "cannot tell",
		},
		"one that makes them is outside": {
			node().process(700, "bwrap", "bwrap", hostNS, sharedAll, "cgroup", nobody).with(parent("700", nobody)),
			"was started by process 700 (bwrap)", "cannot tell",
		},
		"nobody is above it": {node().with(parent("1", nobody)), "what made it cannot be seen", "process 700"},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := test.host.machine(t).findings(t, Check{"propagation", checkPropagation})
			for _, f := range r.Findings {
				if f.Code != CodeNamespacesApart {
					continue
				}
				for _, part := range strings.Split(test.says, "~") {
					if !strings.Contains(f.Cause, part) || strings.Contains(f.Cause, test.not) {
						t.Errorf("%q, want %q and not %q", f.Cause, part, test.not)
					}
				}
				return
			}
			t.Error("no finding about the namespaces")
		})
	}
}
