//go:build linux

package guard_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestDoctorOfDriversPods: a CSI driver can have one place of the host at several
// of its own, and binds within binds. It has what the kubelet has where each of
// them does; where one does not, that one is named.
func TestDoctorOfDriversPods(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared
	kubelet := filepath.Join(dir.Path, "kubelet")
	plugins, pods := filepath.Join(kubelet, "plugins"), filepath.Join(kubelet, "pods")
	g := start(t, ward.Options{Policy: allowAll, Settings: fmt.Sprintf("host.kubelet_root = %q", kubelet)})
	settings := g.settings(kubelet)
	standIn(t, t.TempDir(), &harness.Service{Name: "kubelet", Args: []string{"--root-dir=" + kubelet}})
	if err := errors.Join(os.MkdirAll(plugins, 0o755), os.MkdirAll(pods, 0o755)); err != nil {
		t.Fatal(err)
	}
	p := pinsOf(t, g, settings, kubelet) // a volume that is there before they start
	bind := func(host, inside string, propagation harness.Propagation) harness.ContainerMount {
		return harness.ContainerMount{HostPath: host, ContainerPath: inside, Propagation: propagation}
	}
	const both, receives, none = harness.Bidirectional, harness.HostToContainer, harness.None
	mounts := map[string][]harness.ContainerMount{
		"plain":  {bind(kubelet, kubelet, both)},
		"nested": {bind(kubelet, kubelet, receives), bind(plugins, plugins, receives)},
		"twice":  {bind(kubelet, kubelet, both), bind(pods, pods, both)},
		"host":   {bind(dir.Path, "/host", both), bind(kubelet, kubelet, both)},
		"half":   {bind(dir.Path, "/host", none), bind(kubelet, kubelet, both)},
	}
	for name, all := range mounts {
		g.in(t).Run(harness.Pod{Namespace: "kube-system", Name: name, Containers: []harness.Container{{Name: "main", Privileged: true, Mounts: all}}})
	}
	equal := func() {
		t.Helper()
		for name := range mounts {
			if d := diagnose(t, settings, "doctor", "--pod", name); name != "half" && (d.code != 0 || len(d.Findings) != 1 || d.Findings[0].Code != "tables-equal") {
				t.Errorf("%s: exit code %d: %+v", name, d.code, d.Findings)
			}
		}
	}
	equal()

	later, err := harness.NewVolume(filepath.Join(pods, p.uid, "volumes/kubernetes.io~csi/pvc-2/mount"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := later.Close(); err != nil {
			t.Error(err)
		}
	})
	equal()
	d := diagnose(t, settings, "doctor", "--pod", "half")
	at := "/host" + strings.TrimPrefix(later.Path, dir.Path)
	named := 0
	for _, f := range d.Findings {
		if f.Code != "only-host" {
			t.Errorf("half: %+v", f)
		}
		if f.Subject == later.Path && strings.HasSuffix(f.Message, " at "+at) {
			named++
		}
	}
	// A bind within what a pod has with Bidirectional arrives on the host, as that
	// of "twice" does, and half lacks that too if it started before.
	if d.code != 1 || named != 1 || len(d.Findings) > 2 {
		t.Errorf("half: exit code %d, want one place %s: %+v", d.code, at, d.Findings)
	}
	d.proven(t)
}
