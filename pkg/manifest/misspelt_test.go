package manifest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAMisspeltFieldIsTold, with its line, and no field of a newer Kubernetes.
func TestAMisspeltFieldIsTold(t *testing.T) {
	f := read(t, `# A comment.
---
kind: CronJob
metadata: {name: p}
spec:
  jobTemplate:
    spec:
      template:
        spec:
          hostUser: false
          hostPID: true
          hostname: h
          nodeName: n
          initContainer: []
          fromTheFuture: 1
          containers:
          - name: c
            args: []
            livenessProbe: {}
            volumeMount: []
            securitycontext: {privileged: true}
          - name: d
            securityContext: {priviledged: true, allowPrivilegeEscalation: true, procMount: Default}
          volumes:
          - {name: v, hostpath: {path: /}}
          - {name: w, cephfs: {}}
          - {name: x, hostPath: {path: /}}
`)
	var got []string
	for _, w := range f.Warnings {
		got = append(got, fmt.Sprintf("%d %s", w.Line, w.Text))
	}
	told := func(line int, what, key, meant string) string {
		return fmt.Sprintf("%d %s has no field %q that is known here, and it is passed over: did you mean %q?", line, what, key, meant)
	}
	want := []string{
		told(10, "the specification of a pod", "hostUser", "hostUsers"),
		told(14, "the specification of a pod", "initContainer", "initContainers"),
		told(20, "a container", "volumeMount", "volumeMounts"),
		told(21, "a container", "securitycontext", "securityContext"),
		told(23, "a securityContext", "priviledged", "privileged"),
		told(25, "a volume", "hostpath", "hostPath"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
