package facts

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMountOptions(t *testing.T) {
	for _, test := range []struct {
		name          string
		mount         Mount
		bind, ro, rro bool
		destination   string
	}{
		{"bind by type", Mount{Type: "bind", Destination: "/data/"}, true, false, false, "/data"},
		{"bind by option", Mount{Type: "none", Options: []string{"rbind", "ro"}, Destination: "/a/../b"}, true, true, false, "/b"},
		{"rro is not ro", Mount{Options: []string{"bind", "rro"}, Destination: "/x"}, true, false, true, "/x"},
		{"tmpfs is no bind", Mount{Type: "tmpfs", Options: []string{"nosuid"}, Destination: "dev/shm"}, false, false, false, "/dev/shm"},
		{"parents above / are /", Mount{Destination: "../../x"}, false, false, false, "/x"},
		{"no destination is /", Mount{}, false, false, false, "/"},
	} {
		m := test.mount
		if m.Bind() != test.bind || m.ReadOnly() != test.ro || m.RecursiveReadOnly() != test.rro || m.CleanDestination() != test.destination {
			t.Errorf("%s: bind %v ro %v rro %v destination %q", test.name, m.Bind(), m.ReadOnly(), m.RecursiveReadOnly(), m.CleanDestination())
		}
	}
}

func TestStaticPod(t *testing.T) {
	for source, want := range map[string]Truth{"file": Yes, "api": No, "http": No, "": No} {
		pod := Pod{Annotations: map[string]string{AnnotationConfigSource: source}}
		if got := pod.Static(); got.Truth != want || got.Why == "" {
			t.Errorf("config source %q: %+v, want %v", source, got, want)
		}
	}
	if got := (Pod{}).Static(); got.Truth != No {
		t.Errorf("no annotation: %+v, want no", got)
	}
	// A tenant's label of that name says nothing.
	if got := (Pod{Labels: map[string]string{AnnotationConfigSource: "file"}}).Static(); got.Truth != No {
		t.Errorf("label: %+v, want no", got)
	}
}

func TestAnswer(t *testing.T) {
	for _, answer := range []Answer{Is(true, "a"), Is(false, "b"), CannotTell("c"), {}} {
		text, err := json.Marshal(answer)
		var again Answer
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		if diff := cmp.Diff(answer, again); err != nil || diff != "" {
			t.Errorf("%s: %v, -want +got\n%s", text, err, diff)
		}
	}
	var answer Answer
	if answer.Truth != Unknown || Truth(9).String() != "unknown" {
		t.Error("what nobody found out must be unknown")
	}
	truth := Yes
	if err := truth.UnmarshalText([]byte("perhaps")); err != nil || truth != Unknown {
		t.Errorf("a word of a later version reads as %v (%v), want unknown", truth, err)
	}
}

func TestOutcomeSurvivesJSON(t *testing.T) {
	outcome := Outcome{
		Mount: Mount{
			Destination: "/data/", Source: "/host/data", Type: "bind", Options: []string{"rbind", "rprivate"},
			Host: &HostMount{
				Canonical: "/host/data", MountPoint: "/host", MountID: 1 << 40, Device: DeviceNumber{253, 3}, Root: "/r",
				FSType: "xfs", Source: "/dev/dm-3", State: MountState{Peer: 7, Master: 2}, Rung: "statmount",
			},
			Actual: Identity{DeviceNumber{0, 41}, "/x"},
		},
		Asked: Private, Decided: Slave, Action: ActionSet, Result: Applied, Reason: "r", Rule: "n", Position: "p:1", Audited: []string{"a"}, Would: true,
	}
	text, err := json.Marshal(outcome)
	if err != nil {
		t.Fatal(err)
	}
	var again Outcome
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(outcome, again); diff != "" {
		t.Errorf("%s: -want +got\n%s", text, diff)
	}
}

func TestExpectedIsWhatWasAskedWhereNothingIsChanged(t *testing.T) {
	outcome := Outcome{Asked: Private, Decided: Slave}
	if got := outcome.Expected(); got != Slave {
		t.Errorf("enforce mode: %v, want slave", got)
	}
	outcome.Would = true
	if got := outcome.Expected(); got != Private {
		t.Errorf("audit mode: %v, want private", got)
	}
}
