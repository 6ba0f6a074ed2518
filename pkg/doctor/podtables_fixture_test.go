package doctor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

const stateDir = "/run/containerd/io.containerd.runtime.v2.task/k8s.io/"

// idOf makes an id of a container of a letter.
func idOf(letter string) string { return strings.Repeat(letter, 64) }

// task is a container of the pod default/NAME, whose uid is "uid-NAME".
func taskOf(letter, pod string, pid int, mounts ...facts.Mount) namespaces.Task {
	return namespaces.Task{
		Container: facts.Container{ID: idOf(letter), Name: "main", Pod: facts.Pod{Namespace: "default", Name: pod, UID: "uid-" + pod}},
		Bundle:    hostview.Bundle{Dir: stateDir + idOf(letter)},
		Spec:      hostview.Spec{Mounts: mounts, RootfsPropagation: "rshared", Annotations: map[string]string{"io.kubernetes.cri.sandbox-uid": "uid-" + pod}},
		PID:       pid,
	}
}

func bindOf(source, destination, word string) facts.Mount {
	return facts.Mount{Source: source, Destination: destination, Type: "bind", Options: []string{"rbind", word}}
}

// run adds the process and the bundle of a task.
func (h textHost) run(t namespaces.Task, ns int, mounts string) textHost {
	h[t.Bundle.Dir+"/config.json"] = "{}"
	return h.process(t.PID, "sleep", "sleep 1d", ns, mounts,
		"cgroup", fmt.Sprintf("0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-%s.scope\n", t.Container.ID))
}

// snapshot gathers the node with its tasks.
func (h textHost) snapshot(t *testing.T, tasks ...namespaces.Task) *Snapshot {
	t.Helper()
	m := h.machine(t)
	m.Tasks = append(m.Tasks, tasks...)
	s, err := Gather(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// brief is a finding as one line: answer, code, subject, containers.
func brief(all []Finding) []string {
	lines := []string{}
	for _, f := range all {
		line := fmt.Sprintf("%s %s %s", f.Answer, f.Code, f.Subject)
		if len(f.Containers) > 0 {
			line += " [" + strings.Join(f.Containers, ", ") + "]"
		}
		lines = append(lines, line)
	}
	return lines
}

// says reports an error where a finding does not say something, in its
// message, evidence, cause, effect or fixes.
func says(t *testing.T, f Finding, texts ...string) {
	t.Helper()
	all := f.Message + "\n" + f.Cause + "\n" + f.Effect
	for _, e := range f.Evidence {
		all += "\n" + e.Text + "\n" + e.Show
	}
	for _, x := range f.Fixes {
		all += "\n" + x.What + "\n" + strings.Join(x.Commands, "\n") + "\n" + x.Content
	}
	for _, text := range texts {
		if !strings.Contains(all, text) {
			t.Errorf("nothing says %q:\n%s", text, all)
		}
	}
	if f.Answer != facts.Unknown && len(f.Evidence) == 0 {
		t.Errorf("no evidence: %+v", f)
	}
}
