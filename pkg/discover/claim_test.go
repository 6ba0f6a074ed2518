package discover

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/hostview"
)

// TestRootsProcessesCountFirst: anybody can start a process of any name.
func TestRootsProcessesCountFirst(t *testing.T) {
	type found struct {
		Root             string
		Kubelet, Runtime int
	}
	const evil = "kubelet --root-dir=/evil"
	for _, tc := range []struct {
		name      string
		processes map[string]running
		asks      int
		setting   string
		want      found
		why       string // a part; "" is none
		passed    int    // of both
	}{
		{
			name:      "root's kubelet without a root-dir, and a user's with one",
			processes: map[string]running{"7": {hostTable, "containerd", "", ""}, "8": {hostTable, evil, "", "65534"}, "9": {hostTable, "kubelet", "", ""}},
			want:      found{"/var/lib/kubelet", 9, 7}, passed: 1,
		},
		{
			name:      "a user's containerd with a lower number",
			processes: map[string]running{"7": {hostTable, "containerd --state=/evil", "", "65534"}, "8": {hostTable, "containerd", "", ""}, "9": {hostTable, "kubelet", "", ""}},
			want:      found{"/var/lib/kubelet", 9, 8}, passed: 1,
		},
		{
			name:      "root's kubelet just restarts",
			processes: map[string]running{"7": {hostTable, "containerd", "", ""}, "8": {hostTable, evil, "", "65534"}},
			want:      found{"/var/lib/kubelet", 0, 7}, passed: 1,
		},
		{
			name:      "root's containerd does",
			processes: map[string]running{"7": {hostTable, "containerd", "", "65534"}, "9": {hostTable, "kubelet", "", ""}},
			want:      found{"/var/lib/kubelet", 9, 0}, passed: 1,
		},
		{
			name:      "what root runs is no kubelet",
			processes: map[string]running{"7": {hostTable, "k3s kubectl get pods", "", ""}, "8": {hostTable, "k3s~server", "", "1000"}, "9": {hostTable, "containerd -c /var/lib/rancher/k3s/c.toml", "", "1000"}},
			want:      found{"/var/lib/kubelet", 8, 9}, why: "those of user 1000 are taken",
		},
		{
			name:      "without root, and he asks himself",
			processes: map[string]running{"7": {hostTable, evil, "", "65534"}, "8": {hostTable, "k3s~server", "", "1000"}, "9": {hostTable, "containerd -c /var/lib/rancher/k3s/c.toml", "", "1000"}},
			asks:      1000, want: found{"/var/lib/kubelet", 8, 9}, passed: 1,
		},
		{
			name:      "without root, and it is written where",
			processes: map[string]running{"8": {hostTable, "k3s~server", "", "1000"}},
			setting:   "/k", want: found{"/k", 8, 0},
		},
		{
			name:      "two users claim to be it",
			processes: map[string]running{"7": {hostTable, evil, "", "65534"}, "8": {hostTable, "k3s~server", "", "1000"}},
			want:      found{"/var/lib/kubelet", 0, 0}, why: "2 users", passed: 2,
		},
		{
			name:      "a user's containerd and no kubelet at all",
			processes: map[string]running{"7": {hostTable, "containerd", "", "1000"}},
			want:      found{"/var/lib/kubelet", 0, 0}, passed: 1,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			proc := t.TempDir()
			put(t, proc, "1", running{hostTable, "/sbin/init", "", ""})
			for pid, p := range tc.processes {
				put(t, proc, pid, p)
			}
			mounts := table(t, hostTable)
			n := Node{
				Proc: proc, User: tc.asks, Files: func(int) (Files, error) { return files{}, nil },
				Table: func(int) (*hostview.Table, error) { return mounts, nil },
			}
			k, r := Find(t.Context(), n, Settings{KubeletRoot: tc.setting})
			if diff := cmp.Diff(tc.want, found{k.Root, k.PID, r.PID}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if (k.Why == "") != (tc.why == "") || !strings.Contains(k.Why, tc.why) {
				t.Errorf("why %q, want %q", k.Why, tc.why)
			}
			if len(k.Passed)+len(r.Passed) != tc.passed {
				t.Errorf("passed over: %q %q", k.Passed, r.Passed)
			}
		})
	}
}

// TestTwoOfRootsKubeletsAreBothNamed, with a root-dir and without.
func TestTwoOfRootsKubeletsAreBothNamed(t *testing.T) {
	proc := t.TempDir()
	put(t, proc, "1", running{hostTable, "/sbin/init", "", ""})
	put(t, proc, "8", running{hostTable, "kubelet", "", ""})
	put(t, proc, "9", running{hostTable, "kubelet --root-dir=/data", "", ""})
	mounts := table(t, hostTable)
	n := Node{Proc: proc, Files: func(int) (Files, error) { return files{}, nil }, Table: func(int) (*hostview.Table, error) { return mounts, nil }}
	k, _ := Find(t.Context(), n, Settings{})
	parts(t, k.Disagree, []string{`has "/data", but default of process 8 "kubelet" has "/var/lib/kubelet"`})
}
