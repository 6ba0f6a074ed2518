package volumes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/verify"
)

func TestSurvey(t *testing.T) {
	s := surveyOf(smallNode(t), nil)
	if len(s.Unknown) != 0 || len(s.Members) != 2 {
		t.Fatalf("%d members, unknown %+v", len(s.Members), s.Unknown)
	}
	pause, main := s.Members[0], s.Members[1]
	if !pause.Sandbox || pause.PID != 10 || pause.Container.Pod.Name != "db-0" || main.Sandbox {
		t.Errorf("pause %+v", pause)
	}
	if main.PID != 11 || main.Known || main.Namespace != "k8s.io" || main.Identity.Truth != facts.Yes || main.Rootfs.Path != bundleDir("k8s.io", "c1")+"/rootfs" {
		t.Errorf("main %+v", main)
	}
	m := main.Mounts[0]
	if m.LV != "vg0/pvc-1" || m.Asked != facts.Slave || m.Decided != facts.Unset || len(m.Views) != 4 || m.Seen == nil || m.Host.Peer != 3 {
		t.Errorf("mount %+v", m)
	}
	if len(main.Proofs) != 0 {
		t.Errorf("proofs of what nobody decided: %+v", main.Proofs)
	}
}

// TestSurveyWithDecisions: what was decided is proved.
func TestSurveyWithDecisions(t *testing.T) {
	outcome := asked("/data", csiTarget, facts.Private)
	outcome.Decided, outcome.Result = facts.Slave, facts.Applied
	outcome.Mount.Host = &facts.HostMount{Canonical: csiTarget, MountPoint: csiTarget, Root: "/", Device: number(253, 2)}
	s := surveyOf(smallNode(t), func(n *Node) {
		n.Decided = func(id string) (Decided, bool, error) {
			if id != "c1" {
				return Decided{}, false, errors.New("damaged")
			}
			return Decided{Container: facts.Container{ID: "c1", Name: "other", Image: "img", Labels: map[string]string{"a": "b"}}, Outcomes: []facts.Outcome{outcome}}, true, nil
		}
	})
	main := s.Members[1]
	if !main.Known || len(main.Proofs) != 1 || main.Proofs[0].Verdict != verify.Same || main.Mounts[0].Decided != facts.Slave {
		t.Errorf("known %t, proofs %+v", main.Known, main.Proofs)
	}
	if c := main.Container; c.Name != "main" || c.Image != "img" || c.Labels["a"] != "b" {
		t.Errorf("container %+v", c)
	}
	if s.Members[0].KnownWhy != "damaged" || main.KnownWhy != "" {
		t.Errorf("why it is not known what was decided: %q, %q", s.Members[0].KnownWhy, main.KnownWhy)
	}
	if s := surveyOf(smallNode(t), func(n *Node) { n.DecidedWhy = "no right" }); s.Members[1].KnownWhy != "no right" || len(s.Unknown) != 0 {
		t.Errorf("nothing can be read: %q, %+v", s.Members[1].KnownWhy, s.Unknown)
	}
	want := []Unknown{{What: "container sb", Why: "what was decided: damaged"}}
	if diff := cmp.Diff(want, s.Unknown); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
}

// TestMembersThatAreNotRead: each is there, and says why.
func TestMembersThatAreNotRead(t *testing.T) {
	c1 := bundleDir("k8s.io", "c1")
	tests := []struct {
		name    string
		change  func(*fakeMachine)
		members int
		mapped  bool // of c1
		why     string
		unknown string // what, "" for none
	}{
		{"all well", func(*fakeMachine) {}, 2, true, "", ""},
		{"it has no process", func(m *fakeMachine) { m.tasks[c1].pid = 0 }, 2, false, "it has no process", ""},
		{"its process is gone", func(m *fakeMachine) { m.tasks[c1].dead = true }, 2, false, "its process 11 is gone", ""},
		{"init.pid cannot be read", func(m *fakeMachine) { m.tasks[c1].pidErr = errors.New("half written") }, 2, false, "half written", "container c1"},
		{"another process has the number, or Kata", func(m *fakeMachine) { m.tasks[c1].identity = facts.Is(false, "/ is another") }, 2, false, "/ is another", "container c1"},
		{"its process cannot be proved", func(m *fakeMachine) {
			m.tasks[c1].identity, m.tasks[c1].table = facts.CannotTell("no right"), nil
		}, 2, false, "no right", "container c1"},
		{"its specification is half written", func(m *fakeMachine) { m.tasks[c1].specErr = errors.New("unexpected end") }, 2, true, "", "container c1"},
		{"it was removed meanwhile", func(m *fakeMachine) {
			m.tasks[c1].specErr = errors.New("gone")
			m.gone = map[string]bool{c1: true}
		}, 1, false, "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := smallNode(t)
			test.change(m)
			s := surveyOf(m, nil)
			if len(s.Members) != test.members {
				t.Fatalf("%d members", len(s.Members))
			}
			if test.members == 2 {
				main := s.Members[slices.IndexFunc(s.Members, func(m Member) bool { return m.Container.ID == "c1" })]
				if mapped := main.Rootfs.Device != (facts.DeviceNumber{}); mapped != test.mapped {
					t.Errorf("rootfs %+v", main.Rootfs)
				}
				if ended := strings.HasPrefix(test.why, "it"); main.Ended != ended {
					t.Errorf("ended %t", main.Ended)
				}
				if !test.mapped && (main.Rootfs.NoLV != "cannot tell: "+test.why || main.Identity.Truth == facts.Yes || !strings.Contains(main.Identity.Why, test.why)) {
					t.Errorf("rootfs %q, identity %+v", main.Rootfs.NoLV, main.Identity)
				}
			}
			what := ""
			for _, u := range s.Unknown {
				if !strings.HasPrefix(u.What, "marks") {
					what += u.What
				}
				if u.Why == "" {
					t.Errorf("%s is unknown without a reason", u.What)
				}
			}
			if what != test.unknown {
				t.Errorf("unknown %+v, want %q", s.Unknown, test.unknown)
			}
		})
	}
}

// TestAnEndedTask tells what its bundle says, and no device.
func TestAnEndedTask(t *testing.T) {
	m := smallNode(t)
	m.tasks[bundleDir("k8s.io", "c1")].dead = true
	got := surveyOf(m, nil).Members[1].Mounts
	want := []Mount{{
		Destination: "/data", Source: csiTarget, Kind: "csi", Volume: "pvc-1", PodUID: podUID, Asked: facts.Slave,
		HintWhy: "the kubelet has no vol_data.json of it", Backing: Backing{NoLV: "cannot tell: its process 11 is gone"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mounts (-want +got):\n%s", diff)
	}
}

// TestOrder of members does not depend on who reads faster; other namespaces of
// containerd are there by id.
func TestOrder(t *testing.T) {
	m := smallNode(t)
	for i := range 40 {
		m.tasks[bundleDir("moby", fmt.Sprintf("m%02d", 39-i))] = &fakeTask{}
	}
	var first []string
	for range 3 {
		s := surveyOf(m, nil)
		var ids []string
		for _, member := range s.Members {
			ids = append(ids, member.Namespace+"/"+member.Container.ID)
		}
		if first == nil {
			first = ids
		}
		if diff := cmp.Diff(first, ids); diff != "" || len(ids) != 42 {
			t.Fatalf("%d members (-first +now):\n%s", len(ids), diff)
		}
	}
	if first[0] != "k8s.io/sb" || first[2] != "moby/m00" || first[41] != "moby/m39" {
		t.Errorf("order %v", first)
	}
}

// TestStates: one directory by two names is one, a missing one is unknown, and
// one without tasks is empty.
func TestStates(t *testing.T) {
	m := smallNode(t)
	m.links = map[string]string{"/var/run/containerd": state}
	m.gone = map[string]bool{"/run/none": true}
	s := surveyOf(m, func(n *Node) { n.States = []string{state, "/var/run/containerd", "/run/none"} })
	if len(s.Members) != 2 || len(s.Unknown) != 2 || s.Unknown[0] != (Unknown{What: "containers below /run/none", Why: "/run/none: file does not exist"}) {
		t.Errorf("%d members, unknown %+v", len(s.Members), s.Unknown)
	}
	m = &fakeMachine{fakeHost: onHost(nil), t: t, bundlesErr: errGone(state), host: hostLines()}
	if s := surveyOf(m, nil); len(s.Members)+len(s.Marks) != 0 || len(s.Unknown) != 1 || !strings.Contains(s.Unknown[0].What, MarkNoSuchPod) {
		t.Errorf("no task directory: %+v", s)
	}
	m.bundlesErr = nil
	if s := surveyOf(m, nil); len(s.Unknown) != 0 || len(s.Marks) == 0 {
		t.Errorf("an empty task directory: %+v", s)
	}
	if s := surveyOf(m, func(n *Node) { n.States = nil }); len(s.Unknown)+len(s.Marks)+len(s.Members) != 0 {
		t.Errorf("no state directory: %+v", s)
	}
}

// TestTheEndOfASurvey: what was read is told, and what was not.
func TestTheEndOfASurvey(t *testing.T) {
	m := smallNode(t)
	for i := range 40 {
		m.tasks[bundleDir("moby", fmt.Sprint("m", i))] = &fakeTask{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	m.cancel = cancel
	s := surveyor{Node{Devices: node(), KubeletRoot: kubelet, States: []string{state}}, m}.survey(ctx)
	unread := 0
	for _, u := range s.Unknown {
		if strings.HasPrefix(u.What, "container ") && u.Why == "context canceled" {
			unread++
		}
	}
	if len(s.Members) == 0 || len(s.Members)+unread != 42 || unread == 0 {
		t.Errorf("%d members, %d unread of 42", len(s.Members), unread)
	}
	for _, mark := range s.Marks {
		if mark.Code == MarkNoSuchPod || mark.Code == MarkOrphanRootfs {
			t.Errorf("a mark though not all was read: %+v", mark)
		}
	}
}

// TestNoHostTable: no marks, and a reason.
func TestNoHostTable(t *testing.T) {
	m := smallNode(t)
	m.hostErr = errors.New("denied")
	s := surveyOf(m, nil)
	if len(s.Marks) != 0 || len(s.Unknown) != 1 || s.Unknown[0] != (Unknown{What: "the host's mount table", Why: "denied"}) {
		t.Errorf("marks %+v, unknown %+v", s.Marks, s.Unknown)
	}
	if got := s.Members[1].Mounts[0].ViewsWhy; !strings.HasSuffix(got, "denied") {
		t.Errorf("views: %q", got)
	}
}
