package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// FuzzRead: whatever a file holds, it is read to an end, twice to the same, and
// every container has a list that could be containerd's: absolute destinations, a
// note for each, one propagation word for each bind, no more propagation than
// rootfsPropagation allows, and Bidirectional only of privileged ones.
func FuzzRead(f *testing.F) {
	f.Add(pod("[{name: v, mountPath: /a, mountPropagation: Bidirectional}]", "[{name: v, hostPath: {path: /srv}}]"))
	f.Add(pod("[{name: v, mountPath: a/../b, subPath: x}]", "[{name: v, persistentVolumeClaim: {claimName: c}}]"))
	f.Add("apiVersion: batch/v1\nkind: CronJob\nspec: {jobTemplate: {spec: {template: {spec: {initContainers: &c [{name: i}], containers: *c}}}}}\n---\n")
	f.Add(`{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]}}]}`)
	f.Add(`{"ociVersion":"1.2.0","mounts":[{"destination":"/a"}]}`)
	f.Add("info: {runtimeSpec: {}}\nstatus: {id: a}\n")
	f.Add("a: &a [*a]\n<<: *a\n")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Read([]byte(text), Options{})
		again, err2 := Read([]byte(text), Options{})
		if diff := cmp.Diff(file, again); diff != "" || (err == nil) != (err2 == nil) {
			t.Fatalf("read twice: %v, %v\n%s", err, err2, diff)
		}
		if err == nil && len(file.Subjects) == 0 {
			t.Fatal("nothing in it, and no error")
		}
		for _, s := range file.Subjects {
			if (s.Spec == nil) != (len(s.Container.Mounts) > 0) || len(s.Notes) != len(s.Container.Mounts) {
				t.Fatalf("%d mounts, %d notes, specification %q", len(s.Container.Mounts), len(s.Notes), s.Spec)
			}
			most := facts.Private.Reach()
			for i, m := range s.Container.Mounts {
				if m.Destination == "" || m.Destination[0] != '/' {
					t.Errorf("destination %q", m.Destination)
				}
				if !m.Bind() {
					continue
				}
				if facts.Words(m.Options) != 1 && m.Source != "/sys" || m.Source == "" || m.Source[0] != '/' {
					t.Errorf("bind %+v", m)
				}
				if m.Requested() == facts.Shared && s.Container.Privileged.Truth != facts.Yes {
					t.Errorf("Bidirectional in an unprivileged container: %+v", m)
				}
				for _, other := range s.Notes[i].Others {
					if other.Destination != m.Destination || other.Requested() != m.Requested() {
						t.Errorf("%+v may be %+v", m, other)
					}
				}
				most = max(most, m.Requested().Reach())
			}
			if root, ok := facts.ParseOption(s.RootfsPropagation); s.Spec == nil && (ok && root.Reach() != most || !ok && most > 0) {
				t.Errorf("rootfsPropagation %q, most asked %d", s.RootfsPropagation, most)
			}
		}
	})
}
