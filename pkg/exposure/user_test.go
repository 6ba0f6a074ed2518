package exposure

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/target"
)

func ptr(n uint32) *uint32 { return &n }

// TestAsWhom: the user on the node and in the user namespace, and the
// capabilities that matter; alike processes are counted.
func TestAsWhom(t *testing.T) {
	n := newNode(t)
	p := podA
	p.user, p.uids, p.idMap = 905, "65636", "0 65536 65536"
	n.add(p, tableA)
	task := n.members[201][0].Owner
	for _, pid := range []int{211, 212} {
		n.process(201, namespaces.Process{PID: pid, User: 905, Owner: task}, "65636", usualCaps, "0 65536 65536", "pid:[201]")
	}
	n.process(201, namespaces.Process{PID: 213, User: 905, Owner: task}, "4000000", "0000000000000000", "0 65536 65536", "pid:[201]")
	v := Find(context.Background(), n.Node, []target.Target{pvc1}).Viewers[0]
	want := []User{
		{UID: 65636, Inside: ptr(100), UserNamespace: 905, Capabilities: []string{capDACOverride}, Processes: 3},
		{UID: 4000000, UserNamespace: 905, Capabilities: []string{}, Processes: 1},
	}
	if diff := cmp.Diff(want, v.Users, cmpopts.IgnoreUnexported(User{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if v.HostPID.Truth != facts.No || v.UserNamespace != 905 {
		t.Errorf("%v in user:[%d]", v.HostPID, v.UserNamespace)
	}
	if diff := cmp.Diff([]int{201, 211, 212, 213}, v.PIDs); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPowers: who needs no mount. Capabilities in a user namespace of its own do
// not count, nor those that see only their own processes.
func TestPowers(t *testing.T) {
	yes := facts.Is(true, "nothing confines it")
	for name, test := range map[string]struct {
		pod  pod
		want []string
	}{
		"an ordinary one":                            {pod{}, nil},
		"privileged":                                 {pod{privileged: yes}, []string{"privileged: nothing confines it"}},
		"it sees the node and can trace":             {pod{pidNS: "pid:[1]", caps: "0000000000080000"}, []string{"it sees the node's processes and has CAP_SYS_PTRACE: it can enter their mount namespaces"}},
		"it sees the node and cannot trace":          {pod{pidNS: "pid:[1]"}, []string{"it sees the node's processes: through /proc/PID/root it reaches what those of its users reach that have no more capabilities"}},
		"it can trace its own":                       {pod{caps: "0000000000080000"}, nil},
		"all capabilities in a namespace of its own": {pod{user: 905, pidNS: "pid:[1]", caps: allCaps}, nil},
		"perhaps privileged": {
			pod{privileged: facts.CannotTell("the device rules do not allow all devices"), caps: "0000000000200000"},
			[]string{"it has CAP_SYS_ADMIN, and whether it is privileged cannot be told: the device rules do not allow all devices"},
		},
	} {
		n := newNode(t)
		test.pod.inode, test.pod.name, test.pod.uid = 202, "agent", uidB
		n.add(test.pod, lines(rootfs))
		r := Find(context.Background(), n.Node, []target.Target{pvc1})
		var got []string
		for _, p := range r.Powers {
			got = append(got, p.Why...)
			if some := strings.Contains(strings.Join(p.Why, ""), "no more capabilities"); p.Everything == some {
				t.Errorf("%s: everything: %v", name, p.Everything)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if r.Reached() {
			t.Errorf("%s: counts without a mount", name)
		}
	}
}

// TestAContainerInTheNodesNamespace: a process of it there sees what the node
// sees, and is told apart from it.
func TestAContainerInTheNodesNamespace(t *testing.T) {
	n := newNode(t)
	n.add(podA, tableA)
	owner := n.members[201][0].Owner
	n.process(hostNS, namespaces.Process{PID: 250, Comm: "nsenter", User: hostUserNS, Owner: owner}, "0", allCaps, "0 0 4294967295", "pid:[1]")
	r := Find(context.Background(), n.Node, []target.Target{pvc1})
	i := slices.IndexFunc(r.Viewers, func(v Viewer) bool { return v.Note != "" })
	if i < 0 || r.Viewers[i].Container != "app" || r.Viewers[i].Paths[0].Through.Kind != ThroughNamespace {
		t.Fatalf("%+v", r.Viewers)
	}
	if len(r.Powers) != 1 || !strings.HasPrefix(r.Powers[0].Why[0], "a process of it is in the mount namespace of the node") {
		t.Errorf("%+v", r.Powers)
	}
}

// TestRawDevices: the node of the device, of one below and of one above; not that
// of another, nor a character device with its number.
func TestRawDevices(t *testing.T) {
	n := newNode(t)
	n.add(pod{inode: 202, uid: uidB, name: "db", devices: []facts.Device{
		{Path: "/dev/xvda", Type: "b", Number: dev(253, 7)},
		{Path: "/dev/other", Type: "b", Number: dev(253, 8)},
		{Path: "/dev/char", Type: "c", Number: dev(253, 7)},
	}}, lines(rootfs))
	r := Find(context.Background(), n.Node, []target.Target{pvc1})
	if diff := cmp.Diff([]string{"db /dev/xvda device - ? own?"}, told(r)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !r.Reached() || !strings.Contains(r.Viewers[0].Paths[0].Evidence[0].Text, "/dev/xvda b 253:7 (the device itself)") {
		t.Errorf("%+v", r.Viewers[0].Paths)
	}
}

func TestParseStatus(t *testing.T) {
	u, err := parseStatus([]byte("Name:\ta\\nUid:\t1\nUid:\t1\t2\t3\t4\nCapEff:\t0000000000200006\nCapBnd:\t0000000000080000\n"))
	want := User{UID: 2, Capabilities: []string{capDACOverride, capDACReadSearch, capSysAdmin}, bounding: []string{capSysPtrace}}
	if diff := cmp.Diff(want, u, cmp.AllowUnexported(User{})); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, bad := range []string{"", "Uid:\t0\t0\t0\t0\n", "CapEff:\t0\n", "Uid:\t0\t-1\t0\t0\nCapEff:\t0\n", "Uid:\t0\t0\t0\t0\nCapEff:\tx\n"} {
		if u, err := parseStatus([]byte(bad)); err == nil {
			t.Errorf("%q is %+v", bad, u)
		}
	}
}

func TestParseIDMap(t *testing.T) {
	got, err := parseIDMap([]byte("         0     100000      65536\n     65536   4294967295          1\n"))
	if diff := cmp.Diff([]idRange{{0, 100000, 65536}, {65536, 4294967295, 1}}, got, cmp.AllowUnexported(idRange{})); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, bad := range []string{"0 0\n", "0 0 x\n", "0 0 4294967296\n", "0 0 1 1\n"} {
		if got, err := parseIDMap([]byte(bad)); err == nil {
			t.Errorf("%q is %v", bad, got)
		}
	}
}

// FuzzStatus: the name that a process gives itself, which the kernel escapes,
// changes nothing of what is read.
func FuzzStatus(f *testing.F) {
	f.Add("x", []byte("Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\nCapBnd:\t000001ffffffffff\n"))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		name = strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(name)
		if len(name) > 64 {
			return
		}
		want, wantErr := parseStatus(text)
		got, err := parseStatus(append([]byte("Name:\t"+name+"\n"), text...))
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(User{})); diff != "" || (err == nil) != (wantErr == nil) {
			t.Errorf("%q before %q: %v (-without +with):\n%s", name, text, err, diff)
		}
	})
}

// FuzzIDMap: what was read and is written again is the same.
func FuzzIDMap(f *testing.F) {
	f.Add([]byte("0 100000 65536\n65536 5 1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		want, err := parseIDMap(text)
		if err != nil {
			return
		}
		var again strings.Builder
		for _, r := range want {
			fmt.Fprintln(&again, r.inside, r.outside, r.count)
		}
		if got, err := parseIDMap([]byte(again.String())); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q became %v, then %v, %v", text, want, got, err)
		}
	})
}
