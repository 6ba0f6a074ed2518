//go:build linux

package guest

import (
	"strings"
	"testing"
)

// TestLVM is a pod on a real logical volume: its record has the names and
// numbers that LVM, the device mapper and lsblk have, and journalctl finds it by
// each. An agent that ran before sees the volume.
func TestLVM(t *testing.T) {
	n := connect(t)
	enforce(t, enforcing)
	agent := agentPod(t, "8e1a1f60-0000-4000-8000-000000000003")
	n.start(t, agent)

	s := newStack(t)
	s.vg("vg0", s.loop("a", 512))
	device := s.lv("vg0/pvc-1", "--size", "320M")
	s.mkfs("xfs", device)
	p := &pod{namespace: "db", name: "db-0", uid: "8e1a1f60-0000-4000-8000-000000000004"}
	volume := s.target(p.uid, "pvc-1")
	s.mountAt(volume, "xfs", device, "")
	p.mounts = volumeMounts(volume)
	n.start(t, p)

	number := column(t, "lsblk", "--nodeps", "--noheadings", "--output", "MAJ:MIN", "/dev/vg0/pvc-1")
	if got := column(t, "dmsetup", "info", "--columns", "--noheadings", "--separator", ":", "-o", "major,minor", "vg0-pvc--1"); got != number {
		t.Fatalf("dmsetup says %s, lsblk %s", got, number)
	}
	uuid := column(t, "lvs", "--noheadings", "-o", "lv_uuid", "vg0/pvc-1")

	task := awaitEntry(t, "MESSAGE_ID="+taskID, "CONTAINER_ID_FULL="+p.id)
	data := member(task.record(t)["mounts"], "/data")
	for name, want := range map[string]string{
		"kind": "csi", "volume": "pvc-1", "fs_type": "xfs", "source": volume,
		"lv": "vg0/pvc-1", "lv_uuid": uuid, "dm_name": "vg0-pvc--1", "device": number,
	} {
		if got := at(data, name); got != want {
			t.Errorf("%s of /data is %v, want %s", name, got, want)
		}
	}
	for _, query := range []string{"MOUNTWARD_LV=vg0/pvc-1", "MOUNTWARD_DEVICE=" + number, "MOUNTWARD_POD_UID=" + p.uid} {
		s.found([]*pod{p}, query)
	}
	never(t, "drift", p.id)

	inside := "/pods" + strings.TrimPrefix(volume, podsDir)
	if got := mountOf(t, agent, inside).Device; got != number {
		t.Errorf("the agent has device %s at %s, want %s", got, inside, number)
	}
}

// column is the only word that a program prints.
func column(t *testing.T, name string, args ...string) string {
	t.Helper()
	return strings.TrimSpace(output(t, name, args...))
}

// cleanup runs a program with the end of the test.
func cleanup(t *testing.T, name string, args ...string) {
	t.Helper()
	t.Cleanup(func() {
		if _, err := run(name, args...); err != nil {
			t.Error(err)
		}
	})
}
