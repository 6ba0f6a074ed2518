package doctor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

// inner puts all processes of a node into a pid namespace of its own.
func (h textHost) inner() textHost {
	for p := range h {
		if dir, ok := strings.CutSuffix(p, "/comm"); ok {
			h[dir+"/ns/pid"] = "-> pid:[4026532785]"
		}
	}
	h["/proc/self"], h["/proc/sys/kernel/osrelease"] = "-> 1", "6.12.48\n"
	return h
}

// TestANodeThatIsAContainerIsAllOfTheNode: kind, k3d, LXC. What is outside of its
// pid namespace is not the node's where the kubelet and the runtime are in it.
func TestANodeThatIsAContainerIsAllOfTheNode(t *testing.T) {
	for name, test := range map[string]struct {
		host textHost
		exit int
		want []string // of what is not sound
		says string   // in what could not be read
	}{
		"kubelet and runtime are inside": {ordinary(sharedAll).inner(), 0, nil, ""},
		"and something is wrong": {
			ordinary(private).inner(), 1,
			[]string{"no not-shared /var/lib/kubelet", "no not-shared /var/lib/kubelet/pods", "no not-shared /var/lib/kubelet/plugins"},
			"",
		},
		"the kubelet alone": {
			textHost{}.process(1, "systemd", "/sbin/init", hostNS, sharedAll).process(900, "kubelet", "kubelet", hostNS, sharedAll).inner(),
			2, nil, "run doctor in their pid namespace (hostPID: true in a pod)",
		},
		"a pod without hostPID": {
			textHost{}.process(1, "sh", "sh", hostNS, private).with(map[string]string{"/var/lib/kubelet/pods/x": ""}).inner(),
			2,
			[]string{"unknown no-node /var/lib/kubelet"},
			"run doctor in their pid namespace (hostPID: true in a pod)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, _ := test.host.machine(t).findings(t, Check{"kubelet", checkKubelet}, Check{"propagation", checkPropagation}, Check{KernelCheck, checkKernel})
			var bad []Finding
			kernel := false
			for _, f := range r.Findings {
				kernel = kernel || f.Code == codeKernel
				if f.Answer != facts.Yes && f.Code != codeKernel {
					bad = append(bad, f)
				}
			}
			if diff := cmp.Diff(append([]string{}, test.want...), brief(bad)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got := fmt.Sprint(r.Unknown); (len(r.Unknown) > 0) != (test.says != "") || !strings.Contains(got, test.says) {
				t.Errorf("unknown %s, want %q", got, test.says)
			}
			if r.Exit() != test.exit || !kernel {
				t.Errorf("exit %d, want %d; the kernel was asked: %v", r.Exit(), test.exit, kernel)
			}
		})
	}
}

// TestOfWhatIsOutsideAHostIsTold: there it is the node's.
func TestOfWhatIsOutsideAHostIsTold(t *testing.T) {
	all := []namespaces.Unknown{{What: namespaces.OtherUsers, Why: "x"}, {What: "process 7", Why: "y"}, {What: namespaces.ProcessesOutside, Why: "z"}}
	for name, test := range map[string]struct {
		host textHost
		want []namespaces.Unknown
	}{
		"in the first pid namespace": {ordinary(sharedAll).with(map[string]string{"/proc/1/ns/pid": "-> pid:[4026531836]"}), all},
		"not known":                  {ordinary(sharedAll), all},
		"in one of its own":          {ordinary(sharedAll).inner(), all[1:2]},
	} {
		m := test.host.machine(t)
		s, err := Gather(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		g := gatherer{Machine: m, s: s}
		if diff := cmp.Diff(test.want, g.outside(all)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if s.Elsewhere {
			t.Errorf("%s: there are a kubelet and a runtime", name)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
