//go:build linux

package guest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// task is the record of a pod's container in the journal.
func (s *stack) task(p *pod) map[string]any {
	s.Helper()
	return awaitEntry(s.T, "MESSAGE_ID="+taskID, "CONTAINER_ID_FULL="+p.id).record(s.T)
}

// now is what "mountward volumes" says of a pod's container.
func (s *stack) now(p *pod) map[string]any {
	s.Helper()
	return s.only(p, volumes(s.T, p.id))
}

// only is the one container that an answer is about.
func (s *stack) only(p *pod, a answer) map[string]any {
	s.Helper()
	if len(a.Tasks) != 1 {
		s.Fatalf("%d containers with the id %s", len(a.Tasks), p.id)
	}
	task, _ := a.Tasks[0].(map[string]any)
	return task
}

// recorded compares one mount with what must be said of it: in the journal, and
// on demand.
func (s *stack) recorded(p *pod, destination string, want map[string]any) {
	s.Helper()
	record, now := s.task(p), s.now(p)
	if record["pid"] != float64(p.pid) || now["pid"] != float64(p.pid) {
		s.Errorf("pid is %v in the record and %v now, want %d", record["pid"], now["pid"], p.pid)
	}
	s.has(member(record["mounts"], destination), "recorded "+destination, want)
	s.has(member(now["mounts"], destination), destination, want)
	never(s.T, "drift", p.id)
}

func (s *stack) has(mount any, what string, want map[string]any) {
	s.Helper()
	for name, value := range want {
		if got := at(mount, name); !reflect.DeepEqual(got, value) {
			s.Errorf("%s of %s is %v, want %v; of %v", name, what, got, value, mount)
		}
	}
}

// found asks the journal as the README says, and waits for the records of these
// pods, and of no other: since this test began, for device numbers are used again.
func (s *stack) found(pods []*pod, query ...string) {
	s.Helper()
	var want []string
	for _, p := range pods {
		want = append(want, p.id)
	}
	got := await(s.T, "journalctl "+strings.Join(query, " "), func() (got []string, err error) {
		all, err := journal(append(query, "MOUNTWARD_EVENT=task", s.recent())...)
		for _, e := range all {
			got = append(got, e.first("CONTAINER_ID_FULL"))
		}
		if err == nil && len(got) < len(want) {
			err = fmt.Errorf("it finds %v, want %v", got, want)
		}
		return got, err
	})
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.Errorf("journalctl %s finds %v, want %v", strings.Join(query, " "), got, want)
	}
}

// agreed compares the record with what containerd's own programs and LVM say.
func (s *stack) agreed(p *pod) {
	s.Helper()
	record := s.task(p)
	data := member(record["mounts"], "/data")

	var inspected struct {
		Status struct {
			ID     string
			Mounts []struct{ ContainerPath, HostPath string }
		}
		Info struct{ Pid int }
	}
	s.decode(&inspected, "crictl", "--runtime-endpoint", "unix:///run/containerd/containerd.sock", "inspect", p.id)
	if inspected.Status.ID != p.id || float64(inspected.Info.Pid) != record["pid"] {
		s.Errorf("crictl says %+v, and the record %v with pid %v", inspected, at(record, "container", "id"), record["pid"])
	}
	if at(record, "container", "id") != p.id || at(record, "container", "pod", "uid") != p.uid {
		s.Errorf("container %v is not %s of pod %s", record["container"], p.id, p.uid)
	}
	for _, m := range inspected.Status.Mounts {
		if m.ContainerPath == "/data" && m.HostPath != at(data, "source") {
			s.Errorf("crictl has %s at /data, and the record %v", m.HostPath, at(data, "source"))
		}
	}

	var info struct {
		ID, SnapshotKey string
		Spec            struct {
			Mounts []struct{ Destination, Source string }
		}
	}
	s.decode(&info, "/usr/local/bin/ctr", "--namespace", "k8s.io", "containers", "info", p.id)
	for _, m := range info.Spec.Mounts {
		if m.Destination == "/data" && m.Source != at(data, "source") {
			s.Errorf("ctr has %s at /data, and the record %v", m.Source, at(data, "source"))
		}
	}
	var state string
	for line := range strings.Lines(s.do("/usr/local/bin/ctr", "--namespace", "k8s.io", "tasks", "ls")) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == p.id {
			state = words[1]
		}
	}
	var pid json.Number
	if err := json.Unmarshal([]byte(state), &pid); err != nil || string(pid) != jsonText(record["pid"]) {
		s.Errorf("ctr has the task as pid %q, and the record %v", state, record["pid"])
	}
	upper, _ := at(record, "rootfs", "upperdir").(string)
	if mounts := s.do("/usr/local/bin/ctr", "--namespace", "k8s.io", "snapshots", "mounts", "/x", info.SnapshotKey); upper == "" || !strings.Contains(mounts, "upperdir="+upper+",") {
		s.Errorf("ctr has the root filesystem %s, and the record the upper directory %q", mounts, upper)
	}

	lv, _ := at(data, "lv").(string)
	words := strings.Fields(s.do("lvs", "--noheadings", "-o", "lv_uuid,lv_kernel_major,lv_kernel_minor", lv))
	if len(words) != 3 || words[0] != at(data, "lv_uuid") || words[1]+":"+words[2] != at(data, "device") {
		s.Errorf("lvs says %v of %s, and the record %v", words, lv, data)
	}
}

// decode reads the JSON that a program prints.
func (s *stack) decode(v any, name string, args ...string) {
	s.Helper()
	if err := json.Unmarshal([]byte(s.do(name, args...)), v); err != nil {
		s.Fatalf("read what %s prints: %v", name, err)
	}
}

// jsonText is a value as JSON has it.
func jsonText(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
