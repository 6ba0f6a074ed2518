//go:build linux

package guard_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// asked is what one call of the command line said.
type asked struct {
	code           int
	stdout, stderr string
}

// ask runs a verb of the command line beside the daemon, with its settings.
func (g *guard) ask(settings string, args ...string) asked {
	g.tb.Helper()
	return verb(g.tb, settings, args...)
}

func (a asked) want(t *testing.T, code int, stdout ...string) {
	t.Helper()
	if a.code != code {
		t.Errorf("exit code %d, want %d; stderr: %s", a.code, code, a.stderr)
	}
	for _, text := range stdout {
		if !strings.Contains(a.stdout, text) {
			t.Errorf("standard output lacks %q:\n%s", text, a.stdout)
		}
	}
}

// TestCommandLine: the verbs say of a container what its record said at its
// start; where the state directory is they find out by themselves, and they need
// neither the daemon nor containerd.
func TestCommandLine(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared
	kubelet := filepath.Join(dir.Path, "kubelet")
	const uid = "4c000000-0000-4000-8000-00000000000a"
	volume := filepath.Join(kubelet, "pods", uid, "volumes/kubernetes.io~csi/pvc-1")
	target := filepath.Join(volume, "mount")
	if err := os.MkdirAll(target, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(volume, "vol_data.json"), []byte(`{"driverName":"lvm.example.com","volumeHandle":"handle-1","specVolID":"pvc-1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("volume", target, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(target, 0); err != nil {
			t.Error(err)
		}
	})
	g := start(t, ward.Options{
		Policy:   raiseAll,
		Settings: fmt.Sprintf("host.kubelet_root = %q", kubelet),
	})
	settings := filepath.Join(g.Dir, "cli.toml")
	text := fmt.Sprintf("policy = %q\nstate_dir = %q\nruntime_dir = %q\nhost.kubelet_root = %q\n",
		g.Policy, filepath.Join(g.Dir, "state"), filepath.Join(g.Dir, "run"), kubelet)
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	id := g.runOne(harness.Pod{Namespace: "db", Name: "db-0", UID: uid, Containers: []harness.Container{{
		Name: "main", Mounts: []harness.ContainerMount{{HostPath: target, ContainerPath: "/data"}},
	}}})
	record := g.await("task", id)
	pid, err := g.ContainerPID(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}

	t.Run("volumes says what the record said", func(t *testing.T) {
		got := g.ask(settings, "volumes", "db-0", "-o", "json")
		got.want(t, 0)
		var all struct {
			Schema string
			Tasks  []map[string]any
		}
		if err := json.Unmarshal([]byte(got.stdout), &all); err != nil {
			t.Fatal(err)
		}
		var task map[string]any
		for _, one := range all.Tasks {
			if c, _ := one["container"].(map[string]any); c["id"] == id {
				task = one
			}
		}
		if all.Schema != "mountward.volumes/v1" || task == nil {
			t.Fatalf("schema %q, task %v", all.Schema, task)
		}
		for _, part := range []string{"pid", "rootfs", "mounts", "storage"} {
			if diff := cmp.Diff(record[part], task[part]); diff != "" {
				t.Errorf("%s (-record +volumes):\n%s", part, diff)
			}
		}
		data := member(task, "mounts", "/data")
		for name, want := range map[string]any{
			"kind": "csi", "volume": "pvc-1", "pod_uid": uid, "csi_driver": "lvm.example.com", "csi_handle": "handle-1",
			"fs_type": "tmpfs", "asked": "private", "decided": "slave", "open_ended": true, "no_lv": "tmpfs: in memory",
		} {
			if data[name] != want {
				t.Errorf("%s of /data is %v, want %v", name, data[name], want)
			}
		}
	})
	t.Run("the other formats name the volume and the container", func(t *testing.T) {
		g.ask(settings, "volumes", "db-0").want(t, 0, "db-0", "/data", "tmpfs", "csi:pvc-1")
		g.ask(settings, "volumes", "db-0", "-o", "tree").want(t, 0, target, "/data", "db/db-0")
		g.ask(settings, "volumes", "--path", target, "-o", "mermaid").want(t, 0, "flowchart LR", "/data")
		g.ask(settings, "volumes", "no-such-pod").want(t, 1)
	})
	t.Run("verify says the same, and that it is another after a change", func(t *testing.T) {
		g.ask(settings, "verify", id).want(t, 0, "/data", "rslave", "same")
		inside := fmt.Sprintf("/proc/%d/root/data", pid)
		if err := unix.Mount("", inside, "", unix.MS_PRIVATE, ""); err != nil {
			t.Fatal(err)
		}
		g.ask(settings, "verify", id).want(t, 1, "/data", "drift")
	})
	t.Run("without daemon and containerd", func(t *testing.T) {
		if err := g.Kill9(); err != nil {
			t.Fatal(err)
		}
		g.ask(settings, "volumes", id[:12]).want(t, 0, "db-0", "/data", "csi:pvc-1")
		g.ask(settings, "verify", id).want(t, 1, "/data", "drift")
		if err := g.Restart(); err != nil {
			t.Fatal(err)
		}
	})
}
