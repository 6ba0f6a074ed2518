package facts

import (
	"encoding/json"
	"strings"
	"testing"
)

// The pairs are what Linux 6.18 did with a bind of a shared mount: the words
// in order, then a mount on the host and one in the bind.
func TestRequested(t *testing.T) {
	for options, want := range map[string]Propagation{
		"":                  Unset,
		"rbind rw nosuid":   Unset,
		"private":           Private,
		"rprivate":          Private,
		"slave":             Slave,
		"rslave":            Slave,
		"shared":            Shared,
		"rshared":           Shared,
		"unbindable":        Unbindable,
		"runbindable":       Unbindable,
		"rbind rslave ro":   Slave,
		"RSHARED rShared":   Unset,
		"rshared=1 sharedx": Unset,

		"rprivate rprivate":       Private,
		"rprivate rslave":         Private,
		"rprivate rshared":        Private, // a group of its own
		"rprivate runbindable":    Unbindable,
		"rslave rprivate":         Private,
		"rslave rslave":           Slave,
		"rslave rshared":          Slave, // shared:NEW master:HOST
		"rslave runbindable":      Unbindable,
		"rshared rprivate":        Private,
		"rshared rslave":          Slave,
		"rshared rshared":         Shared,
		"rshared runbindable":     Unbindable,
		"runbindable rprivate":    Private,
		"runbindable rslave":      Unbindable,
		"runbindable rshared":     Private, // a group of its own
		"runbindable runbindable": Unbindable,

		"private shared":                       Private,
		"shared rslave":                        Slave,
		"rbind rprivate ro rslave":             Private,
		"rshared rslave rshared":               Slave,
		"rprivate rshared rslave":              Private,
		"rslave rprivate rshared":              Private,
		"runbindable rshared runbindable":      Unbindable,
		"runbindable rslave rprivate rshared":  Private,
		"rshared rshared rshared rslave nosym": Slave,
	} {
		if got := Requested(strings.Fields(options)); got != want {
			t.Errorf("Requested(%q) = %v, want %v", options, got, want)
		}
	}
}

func TestPropagationSpellings(t *testing.T) {
	for _, test := range []struct {
		p                       Propagation
		word, option, kubernete string
		reach                   int
	}{
		{Unset, "unset", "", "", 1},
		{Unbindable, "unbindable", "runbindable", "", 0},
		{Private, "private", "rprivate", "None", 0},
		{Slave, "slave", "rslave", "HostToContainer", 1},
		{Shared, "shared", "rshared", "Bidirectional", 2},
	} {
		if test.p.String() != test.word || test.p.Option() != test.option || test.p.Kubernetes() != test.kubernete || test.p.Reach() != test.reach {
			t.Errorf("%d: %q %q %q reach %d, want %+v", test.p, test.p, test.p.Option(), test.p.Kubernetes(), test.p.Reach(), test)
		}
		text, err := json.Marshal(test.p)
		var again Propagation
		if err != nil || json.Unmarshal(text, &again) != nil || again != test.p {
			t.Errorf("%v: JSON %s (%v) reads as %v", test.p, text, err, again)
		}
	}
	if got, ok := ParseOption("rw"); ok || got != Unset {
		t.Errorf("ParseOption(rw) = %v, %v", got, ok)
	}
	if got := Words([]string{"rw", "rslave", "private", "ro"}); got != 2 {
		t.Errorf("Words = %d, want 2", got)
	}
}

func FuzzRequested(f *testing.F) {
	f.Add("rprivate rslave")
	f.Add("rbind runbindable rshared")
	f.Fuzz(func(t *testing.T, text string) {
		options := strings.Fields(text)
		got := Requested(options)
		if (got == Unset) != (Words(options) == 0) {
			t.Fatalf("Requested(%q) = %v with %d words", options, got, Words(options))
		}
		for _, o := range options {
			if word, ok := ParseOption(o); ok && word.Reach() < got.Reach() {
				t.Fatalf("Requested(%q) = %v reaches further than %v", options, got, word)
			}
		}
		if more := Requested(append(options, "rprivate")); more != Private {
			t.Fatalf("Requested(%q + rprivate) = %v", options, more)
		}
	})
}
