//go:build linux

package guard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestTwoMountsAtOnePlace: what the container sees there is changed, though NRI
// could replace neither. The hidden one is left, and said to be.
func TestTwoMountsAtOnePlace(t *testing.T) {
	g := start(t, ward.Options{Policy: usersPolicy, Settings: inNamespace})
	hidden, dir := harness.TestHostDirs(t).Shared, harness.TestHostDirs(t).Shared
	id, err := g.tryOne(harness.Pod{Namespace: "raise", Containers: []harness.Container{{Name: "main", Mounts: []harness.ContainerMount{
		{HostPath: hidden.Path, ContainerPath: "/data"}, {HostPath: dir.Path, ContainerPath: "/data/"},
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dir.MountBelow("later"); err != nil {
		t.Fatal(err)
	}
	if !g.sees(id, "later") {
		t.Errorf("a later mount does not arrive: %+v", g.Table(id))
	}
	results := map[string]string{}
	g.await("task", id)
	for _, r := range mustRecords(t, g.Ward) {
		all, _ := r["outcomes"].([]any)
		for i := range all {
			if r.Event() == "decision" && r.ContainerID() == id {
				source, _ := r.At("outcomes", i, "mount", "source").(string)
				results[source], _ = r.At("outcomes", i, "result").(string)
			}
		}
	}
	if results[hidden.Path] != "left" || results[dir.Path] != "applied" {
		t.Errorf("outcomes %v", results)
	}
}

// TestAuditModeTouchesNoNamespace and says what it would do.
func TestAuditModeTouchesNoNamespace(t *testing.T) {
	g := start(t, ward.Options{Policy: strings.Replace(usersPolicy, `"enforce"`, `"audit"`, 1), Settings: inNamespace})
	dir := harness.TestHostDirs(t).Shared
	for namespace, asked := range map[string]harness.Propagation{"raise": harness.None, "lower": harness.HostToContainer} {
		id, err := g.tryOne(userPod(namespace, dir.Path, asked))
		if err != nil {
			t.Fatal(err)
		}
		want := map[harness.Propagation]string{harness.None: "private", harness.HostToContainer: "private,slave"}[asked]
		if got := g.Table(id).At("/data").Propagation(); got != want {
			t.Errorf("%s: it is %s, want it as asked: %s", namespace, got, want)
		}
		if result, _ := g.outcome(id); result != "deferred" {
			t.Errorf("%s: outcome %s", namespace, result)
		}
		if r := g.await("decision", id); !strings.Contains(r.Message(), "would set") {
			t.Errorf("record says %q", r.Message())
		}
		g.never("drift", id)
	}
}

// TestTheCapabilitiesOfTheDropInAreEnough, and each is needed: without it
// nothing is changed, and the record says what is missing.
func TestTheCapabilitiesOfTheDropInAreEnough(t *testing.T) {
	harness.NeedsRoot(t)
	binary, err := ward.Binary()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	for bounding, result := range map[string]string{
		"-all,+sys_admin,+sys_chroot,+sys_ptrace": "applied",
		"-all,+sys_admin,+sys_chroot":             "left",
		"-all,+sys_admin,+sys_ptrace":             "left",
		"-all,+sys_chroot,+sys_ptrace":            "left",
		"-all":                                    "left",
	} {
		t.Run(bounding, func(t *testing.T) {
			dir := t.TempDir()
			script := fmt.Sprintf("#!/bin/sh\nexec /usr/bin/setpriv --no-new-privs --bounding-set %s %s/90-mountward\n", bounding, dir)
			for name, text := range map[string][]byte{"90-mountward": text, "limited": []byte(script)} {
				if err := os.WriteFile(filepath.Join(dir, name), text, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			g := start(t, ward.Options{Policy: usersPolicy, Settings: inNamespace, Binary: filepath.Join(dir, "limited")})
			id, err := g.tryOne(userPod("raise", harness.TestHostDirs(t).Shared.Path, harness.None))
			if err != nil {
				t.Fatal(err)
			}
			got, reason := g.outcome(id)
			if hint := strings.Contains(reason, "make install-namespace"); got != result || hint != (got == "left") {
				t.Errorf("outcome %s: %s; want %s", got, reason, result)
			}
			want := map[string]string{"applied": "private,slave", "left": "private"}[result]
			if p := g.Table(id).At("/data").Propagation(); p != want || !g.mapped(id) {
				t.Errorf("the mount is %s, want %s", p, want)
			}
		})
	}
}
