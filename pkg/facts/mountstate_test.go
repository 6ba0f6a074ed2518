package facts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseMountState(t *testing.T) {
	for _, test := range []struct {
		text             string
		want             MountState
		string           string
		shared, receives bool
	}{
		{"", MountState{}, "private", false, false},
		{"shared:313", MountState{Peer: 313}, "shared:313", true, true},
		{"master:1", MountState{Master: 1}, "master:1", false, true},
		{"shared:313 master:1", MountState{Peer: 313, Master: 1}, "shared:313 master:1", true, true},
		{"master:1 propagate_from:7", MountState{Master: 1}, "master:1", false, true},
		{"unbindable", MountState{Unbindable: true}, "unbindable", false, false},
		{"sharedx:9 future", MountState{}, "private", false, false},
	} {
		got, err := ParseMountState(test.text)
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("ParseMountState(%q): %v, -want +got\n%s", test.text, err, diff)
		}
		if got.String() != test.string || got.Shared() != test.shared || got.Receives() != test.receives {
			t.Errorf("%q: %q shared %v receives %v", test.text, got, got.Shared(), got.Receives())
		}
	}
	for _, text := range []string{"shared", "shared:", "shared:x", "master:0", "shared:-1", "master:99999999999999999999", "shared:1 master:"} {
		if got, err := ParseMountState(text); err == nil {
			t.Errorf("ParseMountState(%q) = %v: want an error", text, got)
		}
	}
}

func FuzzParseMountState(f *testing.F) {
	f.Add("shared:313 master:1")
	f.Add("unbindable propagate_from:2")
	f.Add("shared:+1")
	f.Fuzz(func(t *testing.T, text string) {
		state, err := ParseMountState(text)
		if err != nil {
			if state != (MountState{}) {
				t.Fatalf("%q: an error and a state %v", text, state)
			}
			return
		}
		again, err := ParseMountState(state.String())
		if err != nil || again != state {
			t.Fatalf("%q: %q reads as %v (%v)", text, state, again, err)
		}
	})
}
