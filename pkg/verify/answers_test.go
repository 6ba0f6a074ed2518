package verify

import (
	"errors"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// TestAnswersAskOnce: an answer stays the same for whoever asks later, and also
// one that is an error; what nobody asked about is asked of the later one.
func TestAnswersAskOnce(t *testing.T) {
	gone := errors.New("gone")
	asked := map[string]int{}
	first := func(path string) (facts.HostMount, error) {
		asked[path]++
		if path == "/gone" {
			return facts.HostMount{}, gone
		}
		return facts.HostMount{Canonical: "first " + path}, nil
	}
	later := func(path string) (facts.HostMount, error) {
		return facts.HostMount{Canonical: "later " + path}, nil
	}
	a := Answers{}
	for range 2 {
		if m, err := a.By(first)("/a"); err != nil || m.Canonical != "first /a" {
			t.Errorf("/a: %+v %v", m, err)
		}
		if _, err := a.By(first)("/gone"); !errors.Is(err, gone) {
			t.Errorf("/gone: %v", err)
		}
	}
	if asked["/a"] != 1 || asked["/gone"] != 1 {
		t.Errorf("asked %v, want once each", asked)
	}
	for path, want := range map[string]string{"/a": "first /a", "/b": "later /b"} {
		if m, err := a.By(later)(path); err != nil || m.Canonical != want {
			t.Errorf("%s later: %q %v, want %q", path, m.Canonical, err, want)
		}
	}
	if _, err := a.By(later)("/gone"); !errors.Is(err, gone) {
		t.Errorf("/gone later: %v", err)
	}
}
