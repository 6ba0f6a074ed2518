//go:build linux

package guest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/mountward/mountward/test/runtime/harness"
)

// The MESSAGE_IDs, as the README tells them: people search by them, so they are
// written down here once more.
const (
	decisionID = "67df7b18244144eabfbe737d89ef2cb0"
	taskID     = "b77b9611c46d4bb1905308caf83116f6"
)

const podsDir = "/var/lib/kubelet/pods"

// agentPod looks at the volumes of all pods, and its author did not think of
// propagation.
func agentPod(t *testing.T, uid string) *pod {
	t.Helper()
	if err := os.MkdirAll(podsDir, 0o750); err != nil {
		t.Fatal(err)
	}
	return &pod{
		namespace: "monitoring", name: "log-cleaner", uid: uid,
		mounts: []*cri.Mount{{HostPath: podsDir, ContainerPath: "/pods"}},
	}
}

// group is the peer group of the host's mount that covers a path of the root
// file system.
func rootGroup(t *testing.T) int {
	t.Helper()
	mounts, err := harness.Mountinfo(1)
	if err != nil {
		t.Fatal(err)
	}
	return mounts.At("/").Shared
}

// mountOf is a mount of a pod's container.
func mountOf(t *testing.T, p *pod, path string) *harness.Mount {
	t.Helper()
	mounts, err := harness.Mountinfo(p.pid)
	if err != nil {
		t.Fatal(err)
	}
	m := mounts.At(path)
	if m == nil {
		t.Fatalf("nothing is mounted at %s of %s", path, p.name)
	}
	return m
}

// never fails the test if mountward found a container not to be as decided, or
// could not tell.
func never(t *testing.T, event, id string) {
	t.Helper()
	all, err := journal("MOUNTWARD_EVENT="+event, "CONTAINER_ID_FULL="+id)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		t.Errorf("%s: %s\n%s", event, e.first("MESSAGE"), e.first("MOUNTWARD_RECORD"))
	}
}

// TestRaised is the main job under the shipped unit: decided, done, proved
// without a capability, recorded and explained.
func TestRaised(t *testing.T) {
	n := connect(t)
	enforce(t, enforcing)
	p := agentPod(t, "8e1a1f60-0000-4000-8000-000000000001")
	n.start(t, p)

	if m := mountOf(t, p, "/pods"); m.Propagation() != "private,slave" || m.Master != rootGroup(t) {
		t.Errorf("/pods is %s with master %d, want a slave of the host's group %d", m.Propagation(), m.Master, rootGroup(t))
	}
	later := filepath.Join(podsDir, "later")
	mountTmpfs(t, later)
	if out, err := n.exec(t, p, "ls", "/pods/later"); err != nil || out != "here\n" {
		t.Errorf("the pod sees %q, %v; want the later mount", out, err)
	}

	decision := awaitEntry(t, "MESSAGE_ID="+decisionID, "MOUNTWARD_NAMESPACE=monitoring", "CONTAINER_ID_FULL="+p.id)
	task := awaitEntry(t, "MESSAGE_ID="+taskID, "MOUNTWARD_POD_UID="+p.uid, "CONTAINER_ID_FULL="+p.id)
	for _, e := range []entry{decision, task} {
		for name, want := range map[string]string{
			"_EXE": "/usr/bin/mountward", "_SYSTEMD_UNIT": service, "_UID": "0", "SYSLOG_IDENTIFIER": "mountward",
		} {
			if got := e.first(name); got != want {
				t.Errorf("%s of %s is %q, want %q", name, e.first("MOUNTWARD_EVENT"), got, want)
			}
		}
	}
	t.Run("reads the host by the best rung of the kernel", func(t *testing.T) {
		want := "mountinfo"
		if statmountWorks(t) {
			want = "statmount"
		}
		if got := outcomeOf(t, decision, "/pods", "mount", "host", "rung"); got != want {
			t.Errorf("rung = %v, want %s", got, want)
		}
	})
	if got := outcomeOf(t, decision, "/pods", "result"); got != "applied" {
		t.Errorf("result = %v, want applied", got)
	}
	t.Run("proves it without ptrace rights", func(t *testing.T) {
		record := task.record(t)
		if got := at(record, "pid"); got != float64(p.pid) {
			t.Errorf("pid = %v, want %d", got, p.pid)
		}
		bundle := "/run/containerd/io.containerd.runtime.v2.task/k8s.io/" + p.id + "/rootfs"
		if got := at(record, "rootfs", "path"); got != bundle {
			t.Errorf("rootfs = %v, want %s", got, bundle)
		}
		// Only a table that was proved to be the container's is read.
		if at(member(record["mounts"], "/pods"), "seen") == nil {
			t.Errorf("/pods was not seen: %v", record["mounts"])
		}
		never(t, "drift", p.id)
	})
	t.Run("journalctl -x explains the records", func(t *testing.T) {
		for id, want := range map[string]string{
			decisionID: "Subject: Decision about the mounts of container main",
			taskID:     "Subject: Devices under container main",
		} {
			out := output(t, "journalctl", "--catalog", "--no-pager", "MESSAGE_ID="+id, "CONTAINER_ID_FULL="+p.id)
			if !strings.Contains(out, want) {
				t.Errorf("journalctl -x MESSAGE_ID=%s does not say %q:\n%s", id, want, out)
			}
		}
	})
	t.Run("a restarted service proves what runs", func(t *testing.T) {
		output(t, "systemctl", "restart", service)
		invocation := property(t, service, "InvocationID")
		await(t, "synchronization", func() (any, error) {
			all, err := journal("_SYSTEMD_INVOCATION_ID=" + invocation)
			for _, e := range all {
				if m := e.first("MESSAGE"); strings.HasPrefix(m, "synchronized") && strings.Contains(m, "proved=1") {
					return nil, nil
				}
			}
			if err == nil {
				err = errNotYet
			}
			return nil, err
		})
		never(t, "drift", p.id)
		stays(t)
	})
}

// TestRefused is the other direction: the owner of the pod reads why.
func TestRefused(t *testing.T) {
	n := connect(t)
	enforce(t, enforcing)
	p := agentPod(t, "8e1a1f60-0000-4000-8000-000000000002")
	p.privileged = true
	p.mounts[0].Propagation = cri.MountPropagation_PROPAGATION_BIDIRECTIONAL
	err := n.tryStart(t, p)
	if err == nil || !strings.Contains(err.Error(), `rule "only-csi-drivers"`) {
		t.Errorf("error = %v, want our refusal", err)
	}
	e := awaitEntry(t, "MESSAGE_ID="+decisionID, "MOUNTWARD_POD_UID="+p.uid)
	if got := at(e.record(t), "refused"); got != true {
		t.Errorf("refused = %v in the record, want true", got)
	}
}

// outcomeOf follows member names into the outcome of one mount of a decision.
func outcomeOf(t *testing.T, decision entry, destination string, path ...any) any {
	t.Helper()
	outcomes, _ := decision.record(t)["outcomes"].([]any)
	for _, o := range outcomes {
		if at(o, "mount", "destination") == destination {
			return at(o, path...)
		}
	}
	t.Fatalf("no outcome for %s: %v", destination, outcomes)
	return nil
}

// member is the mount of a task record at a destination.
func member(mounts any, destination string) any {
	all, _ := mounts.([]any)
	for _, m := range all {
		if at(m, "destination") == destination {
			return m
		}
	}
	return nil
}

// mountTmpfs mounts a file system with one file, "here".
func mountTmpfs(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	})
	if err := unix.Mount("later", path, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	unmountLater(t, path)
	if err := os.WriteFile(filepath.Join(path, "here"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// unmountLater unmounts with the test.
func unmountLater(t *testing.T, path string) {
	t.Helper()
	t.Cleanup(func() {
		if err := unix.Unmount(path, unix.UMOUNT_NOFOLLOW); err != nil {
			t.Errorf("unmount %s: %v", path, err)
		}
	})
}
