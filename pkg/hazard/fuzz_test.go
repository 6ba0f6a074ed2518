package hazard

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// slow tells what stack tells by comparing every mount with every other.
func slow(paths []string) stacked {
	s := stacked{}
	for i, p := range paths {
		on, hidden := -1, -1
		for j, above := range paths {
			switch {
			case j < i && facts.Within(p, above):
				on = j
			case j > i && facts.Within(p, above) && p != above:
				hidden = j
			}
		}
		s.on, s.hidden = append(s.on, on), append(s.hidden, hidden)
	}
	return s
}

// FuzzNest: the quick answer is the slow one.
func FuzzNest(f *testing.F) {
	f.Add("/a\n/a/b\n/a-b\n/a\n/\n/a/b/c\n/a/b-c")
	f.Add("/a/b\n/a-b\n/a/c\n/a-c\n/a\n/a-b/x\n/a/b/x\n/a-\n/a\n/a/b")
	f.Add("/b/x\n/b\n/b/x\n/\n/b-/x\n/b/x/y")
	f.Add("/a//b\n/.\n/\xff\n/\xff/\n/ab\n/a")
	f.Fuzz(func(t *testing.T, text string) {
		var paths []string
		for p := range strings.SplitSeq(text, "\n") {
			if p, ok := facts.CleanAbs("/" + p); ok && len(paths) < 100 {
				paths = append(paths, p)
			}
		}
		got := newNest(paths).stack()
		if diff := cmp.Diff(slow(paths), got, cmp.AllowUnexported(stacked{})); diff != "" {
			t.Errorf("%q (-slow +quick):\n%s", paths, diff)
		}
	})
}

// FuzzCheck: whatever the list is, a hazard has a known code, its mounts are of
// the list, its message is one line, and the same list has the same hazards.
func FuzzCheck(f *testing.F) {
	f.Add("/a /srv/a rshared\n/a/b /srv/b rprivate\n- / ro rslave\n/x / rslave rro\n", true)
	f.Add("/var/run/x /run rshared\n/run/x /var/lib/kubelet/pods ro\n/../x /srv\n", false)
	f.Fuzz(func(t *testing.T, text string, userns bool) {
		c := facts.Container{ID: "self", UserNamespace: userns}
		for line := range strings.SplitSeq(text, "\n") {
			if words := strings.Split(line, " "); len(words) > 1 && len(c.Mounts) < 50 {
				m := facts.Mount{Destination: words[0], Source: words[1], Options: words[2:]}
				if !slices.Contains(words, "tmpfs") {
					m.Type = "bind"
				}
				c.Mounts = append(c.Mounts, m)
			}
		}
		var destinations []string
		for _, m := range c.Mounts {
			destinations = append(destinations, m.Destination)
		}
		hazards := Check(Asked(c, host()))
		c.Hazards = hazards
		if diff := cmp.Diff(hazards, After(c, outcomes(c.Mounts), host())); diff != "" {
			t.Errorf("nothing was decided, but the hazards are others: %s", diff)
		}
		for _, h := range hazards {
			if !slices.Contains(facts.HazardCodes(), h.Code) || h.Stage != facts.StageAsked || h.Action != "" || len(h.Destinations) == 0 || h.Message == "" {
				t.Errorf("hazard %+v", h)
			}
			if strings.ContainsFunc(h.Message, func(r rune) bool { return r < ' ' }) {
				t.Errorf("message %q", h.Message)
			}
			for _, d := range h.Destinations {
				if !slices.Contains(destinations, d) {
					t.Errorf("%s names %q, which is no mount", h.Code, d)
				}
			}
		}
		if diff := cmp.Diff(hazards, Check(Asked(c, host()))); diff != "" {
			t.Errorf("the same list, other hazards: %s", diff)
		}
	})
}

func outcomes(mounts []facts.Mount) []facts.Outcome {
	var all []facts.Outcome
	for _, m := range mounts {
		all = append(all, facts.Outcome{Mount: m, Asked: m.Requested(), Decided: m.Requested(), Result: facts.Unchanged})
	}
	return all
}
