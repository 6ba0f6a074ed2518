package learn

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/strict"
)

// TestPodsThatNoRuleCanTellApartAreSaid: of a StatefulSet and a ReplicaSet of one
// name, each with a pod whose name could be of the other. Each rule leaves the
// other's pods out, and with them its own.
func TestPodsThatNoRuleCanTellApartAreSaid(t *testing.T) {
	l, err := Learn(Seen{From: "a test", Vars: node, Containers: []facts.Container{
		running("n", "a-10000", "c", bind("/srv", "/a", facts.Slave)), running("n", "a-24567", "c", bind("/opt", "/b", facts.Slave)),
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := []facts.Unread{
		{What: "a test of container c of pod n/a-10000", Why: `mount /a as slave is deny by rule "", not allow`},
		{What: "a test of container c of pod n/a-24567", Why: `mount /b as slave is deny by rule "", not allow`},
		{What: "mount /a of container c of pod n/a-10000", Why: "the names are of a form that no rule could be written for, so that slave is not allowed"},
		{What: "mount /b of container c of pod n/a-24567", Why: "the names are of a form that no rule could be written for, so that slave is not allowed"},
	}
	if diff := cmp.Diff(want, l.Unknown); diff != "" {
		t.Errorf("-want +got\n%s\n%s", diff, l.Policy)
	}
}

// TestWhatIsNotKnownIsListedInOrder, each once, and in the policy so many at most.
func TestWhatIsNotKnownIsListedInOrder(t *testing.T) {
	for _, test := range []struct{ unknown, listed, more int }{{1, 1, 0}, {200, 200, 0}, {201, 200, 1}, {240, 200, 40}} {
		var want []facts.Unread
		for i := range test.unknown {
			want = append(want, facts.Unread{What: fmt.Sprintf("file %03d", i/2), Why: fmt.Sprint(i % 2)})
		}
		given := slices.Concat(want, want[:1])
		slices.Reverse(given)
		l, err := Learn(Seen{From: "a test", Vars: node, Unknown: given})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, l.Unknown); diff != "" {
			t.Errorf("%d: -want +got\n%s", test.unknown, diff)
		}
		var more int
		_, rest, _ := strings.Cut(string(l.Policy), "#   and ")
		_, _ = fmt.Sscan(rest, &more)
		if listed := bytes.Count(l.Policy, []byte("#   file ")); listed != test.listed || more != test.more {
			t.Errorf("%d: %d listed and %d more\n%s", test.unknown, listed, more, l.Policy)
		}
	}
}

// TestALongNameIsLearnedToALimit: that of what a policy can hold.
func TestALongNameIsLearnedToALimit(t *testing.T) {
	long := strings.Repeat("x", maxName)
	for i, c := range []facts.Container{
		running("n", "p", "c", bind("/"+long[1:], "/a", facts.Slave)), running(long, "p", "c", bind("/a", "/a", facts.Slave)),
		running("n", long, "c", bind("/a", "/a", facts.Slave)), running("n", "p", long, bind("/a", "/a", facts.Slave)),
		running("n", "p", "c", bind("/"+long, "/a", facts.Slave)), running(long+"x", "p", "c", bind("/a", "/a", facts.Slave)),
		running("n", long+"x", "c", bind("/a", "/a", facts.Slave)), running("n", "p", long+"x", bind("/a", "/a", facts.Slave)),
	} {
		l, _ := learned(t, c)
		if want := i / 4; len(l.Unknown) != want {
			t.Errorf("%d: unknown %v, want %d", i, l.Unknown, want)
		}
	}
}

// TestAPolicyIsNotTooLargeByWhatItSaysIsUnknown: it is an error before that.
func TestAPolicyIsNotTooLargeByWhatItSaysIsUnknown(t *testing.T) {
	s := Seen{From: strings.Repeat("x", strict.MaxSize*9/10), Vars: node}
	if _, err := Learn(s); err != nil {
		t.Fatal(err)
	}
	for i := range maxListed {
		s.Unknown = append(s.Unknown, facts.Unread{What: fmt.Sprint(i), Why: strings.Repeat("x", 1000)})
	}
	if l, err := Learn(s); err == nil || l.Policy != nil || !strings.Contains(err.Error(), "write a policy of what was seen: "+PolicyName+":") {
		t.Errorf("%d bytes, %v", len(l.Policy), err)
	}
}

// TestStrangeNamesAreMarkedWhereTheyAre: learned finds the policy clean.
func TestStrangeNamesAreMarkedWhereTheyAre(t *testing.T) {
	l, _ := learned(t, running("a b", "p", "c", bind("/a", "/a", facts.Slave)), running("c d", "p", "c", bind("/a", "/a", facts.Slave)), running("n", "p", "c", bind("/a", "/a", facts.Slave)))
	if got := bytes.Count(l.Policy, []byte("lint_ignore")); got != 2 {
		t.Errorf("%d rules are marked, want 2:\n%s", got, l.Policy)
	}
}

// TestAListIsALineWhereThatIsShort, or where it has one item.
func TestAListIsALineWhereThatIsShort(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, test := range []struct {
		items []string
		want  string
	}{
		{[]string{"a", "b"}, `k = ["a", "b"]`},
		{[]string{long[:36], long[:37]}, `k = ["` + long[:36] + `", "` + long[:37] + `"]`},
		{[]string{long[:37], long[:37]}, "k = [\n  \"" + long[:37] + "\",\n  \"" + long[:37] + "\",\n]"},
		{[]string{long}, `k = ["` + long + `"]`},
		{[]string{long, long}, "k = [\n  \"" + long + "\",\n  \"" + long + "\",\n]"},
	} {
		var b strings.Builder
		list(&b, "k", test.items)
		if diff := cmp.Diff(test.want+"\n", b.String()); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}

// TestAWorkloadHasOneHeading for all its rules.
func TestAWorkloadHasOneHeading(t *testing.T) {
	l, _ := learned(t, running("n", "p", "c", bind("/a", "/a", facts.Slave), bind("/b", "/b", facts.Shared)), running("n", "q", "c", bind("/a", "/a", facts.Slave)))
	for heading, want := range map[string]int{"\n\n# n/p\n": 1, "\n\n# n/q\n": 1, "[[rule]]": 4} {
		if got := bytes.Count(l.Policy, []byte(heading)); got != want {
			t.Errorf("%d of %q, want %d:\n%s", got, heading, want, l.Policy)
		}
	}
}
