//go:build linux

package guard_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestAChangeInsideIsRecordedWhereTheStartOverruns: what was done in a container's
// namespace is not undone by an answer that comes too late. Of a static pod, which
// runs on with it, it is recorded; any other pod is refused.
func TestAChangeInsideIsRecordedWhereTheStartOverruns(t *testing.T) {
	g := faulty(t, ward.Options{Policy: usersPolicy, Settings: inNamespace})
	dir := harness.TestHostDirs(t).Shared
	pod := userPod("lower", dir.Path, harness.HostToContainer)
	static := userPod("lower", dir.Path, harness.HostToContainer)
	static.Annotations = map[string]string{"kubernetes.io/config.source": "file"}
	applied := func(id string) func(ward.Record) bool {
		return func(r ward.Record) bool {
			return r.Event() == "decision" && r.ContainerID() == id && strings.Contains(fmt.Sprint(r["outcomes"]), "result:applied")
		}
	}

	g.fault("StartContainer:proved sleep 3s")
	id, err := g.tryOne(static)
	if err != nil {
		t.Fatalf("a static pod was refused: %v", err)
	}
	if got := g.Table(id).At("/data").Propagation(); got != "private" {
		t.Errorf("/data is %s, want private: it was changed before the answer", got)
	}
	if _, err := g.Await(t.Context(), 0, applied(id)); err != nil {
		t.Errorf("the change is in no record: %v", err)
	}
	if _, err := g.tryOne(pod); err == nil || !strings.Contains(err.Error(), "mountward: StartContainer was not decided: ") {
		t.Errorf("error = %v, want our refusal", err)
	}

	g.fault("")
	if id, err = g.tryOne(pod); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Await(t.Context(), 0, applied(id)); err != nil {
		t.Errorf("in time: the change is in no record: %v", err)
	}
}
