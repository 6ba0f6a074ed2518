//go:build linux

package guest

import (
	"os"
	"strings"
	"testing"
)

// TestBoot looks at the boot of the machine: the units were enabled, the rest is
// their order. The first container, run as early as a kubelet can, was decided.
func TestBoot(t *testing.T) {
	connect(t)
	s := newStack(t)
	id, err := os.ReadFile("/run/first-container")
	if err != nil {
		t.Fatalf("%v; %s", err, s.do("journalctl", "--no-pager", "--boot", "--unit=kubelet.service"))
	}
	s.readyBeforeKubelet()
	first := strings.TrimSpace(string(id))
	decision := awaitEntry(t, "MESSAGE_ID="+decisionID, "CONTAINER_ID_FULL="+first)
	awaitEntry(t, "MESSAGE_ID="+taskID, "CONTAINER_ID_FULL="+first)
	if got := outcomeOf(t, decision, "/pods", "decided"); got != "slave" {
		t.Errorf("/pods was decided to be %v, want slave", got)
	}
	never(t, "drift", first)
	never(t, "missed", first)
}

// readyBeforeKubelet wants the service to have been ready before the last start
// of the kubelet.
func (s *stack) readyBeforeKubelet() {
	s.Helper()
	ready, kubelet := s.stamp(service, "ActiveEnterTimestampMonotonic"), s.stamp("kubelet.service", "ExecMainStartTimestampMonotonic")
	if ready > kubelet {
		s.Errorf("the kubelet was started at %d us, and mountward was ready at %d us", kubelet, ready)
	}
}
