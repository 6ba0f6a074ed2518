package apply

import (
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// TestPredict follows the runtime's own way of finding a mount: by text, not by
// component, not through symbolic links, the first of a stack.
func TestPredict(t *testing.T) {
	mounts := table{
		at("/", facts.MountState{Peer: 1}), at("/da", facts.MountState{Peer: 2}), at("/data", facts.MountState{Peer: 3}),
		at("/data/x", facts.MountState{Peer: 4}), at("/data/x", facts.MountState{Peer: 5}), at("/é", facts.MountState{Peer: 6}),
	}
	tests := []struct {
		name, source string
		peer         int // 0: none is found
	}{
		{"the mount itself", "/data", 3},
		{"below it", "/data/y/z", 3},
		{"cleaned", "/data/../data//y/.", 3},
		{"the longest", "/data/x/y", 4},
		{"by text, not by component", "/database/y", 3},
		{"by text, a shorter one", "/dat/y", 2},
		{"of stacked mounts the first", "/data/x", 4},
		{"only the root", "/srv", 1},
		{"the root", "/", 1},
		{"in the middle of a letter", "/éa", 6},
		{"relative", "data", 0},
		{"nothing", "", 0},
		{"a device's name", "tmpfs", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, ok := predict(mounts, test.source)
			if ok != (test.peer != 0) || e.State.Peer != test.peer {
				t.Errorf("%q: group %d, found %t; want %d", test.source, e.State.Peer, ok, test.peer)
			}
		})
	}
}

// FuzzPredict: what is found is a text that the cleaned source begins with, and
// there is no longer one.
func FuzzPredict(f *testing.F) {
	f.Add("/data/x", "/da", "/data")
	f.Add("/a/../b", "/b", "/")
	f.Fuzz(func(t *testing.T, source, one, other string) {
		mounts := table{at(one, shared), at(other, slaveOnly)}
		e, ok := predict(mounts, source)
		clean := path.Clean(source)
		if ok && !strings.HasPrefix(clean, e.MountPoint) {
			t.Errorf("%q: found %q", source, e.MountPoint)
		}
		for _, point := range []string{one, other} {
			if point != "" && strings.HasPrefix(clean, point) && (!ok || len(e.MountPoint) < len(point)) {
				t.Errorf("%q: found %q, not %q", source, e.MountPoint, point)
			}
		}
	})
}

// TestUnableTellsTheCure: what a slave-only mount does not send up cannot be
// cured where it is.
func TestUnableTellsTheCure(t *testing.T) {
	for _, test := range []struct {
		state facts.MountState
		to    facts.Propagation
		want  string
	}{
		{private, facts.Slave, "its host mount /m is private; run: mount --make-rshared /m"},
		{private, facts.Shared, "its host mount /m is private; run: mount --make-rshared /m"},
		{slaveOnly, facts.Shared, "its host mount /m is master:3 and sends nothing up; share it where it comes from"},
		{facts.MountState{Unbindable: true}, facts.Slave, "its host mount /m is unbindable; run: mount --make-rshared /m"},
	} {
		if got := unable("/m", test.state, test.to); got != test.want {
			t.Errorf("%s to %s: %q, want %q", test.state, test.to, got, test.want)
		}
	}
}

// TestAcceptsIsTheRuntimesRule: the word alone, whoever is in the group.
func TestAcceptsIsTheRuntimesRule(t *testing.T) {
	for _, test := range []struct {
		state         facts.MountState
		slave, shared bool
	}{
		{private, false, false},
		{slaveOnly, true, false},
		{shared, true, true},
		{facts.MountState{Peer: 5, Master: 3}, true, true},
		{facts.MountState{Unbindable: true}, false, false},
	} {
		got := []bool{accepts(test.state, facts.Private), accepts(test.state, facts.Slave), accepts(test.state, facts.Shared)}
		if diff := cmp.Diff([]bool{true, test.slave, test.shared}, got); diff != "" {
			t.Errorf("%s: private, slave, shared (-want +got):\n%s", test.state, diff)
		}
	}
}

// FuzzWithPropagation: exactly one propagation word, where the first one stood,
// and all other options as they were. Twice is the same as once.
func FuzzWithPropagation(f *testing.F) {
	f.Add("rbind,rprivate,rw", byte(0))
	f.Add("rslave,bind,shared,ro", byte(1))
	f.Add("", byte(2))
	f.Fuzz(func(t *testing.T, text string, which byte) {
		options := strings.Split(text, ",")
		p := []facts.Propagation{facts.Private, facts.Slave, facts.Shared}[which%3]
		got := withPropagation(options, p)
		if n := facts.Words(got); n != 1 || facts.Requested(got) != p {
			t.Fatalf("%q: %q has %d words", options, got, n)
		}
		var before, after []string
		place := -1
		for i, o := range options {
			if _, ok := facts.ParseOption(o); !ok {
				before = append(before, o)
			} else if place < 0 {
				place = i
			}
		}
		for i, o := range got {
			if _, ok := facts.ParseOption(o); !ok {
				after = append(after, o)
			} else if place >= 0 && i != place {
				t.Errorf("%q: the word of %q is not where the first one stood", options, got)
			}
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("other options of %q (-want +got):\n%s", options, diff)
		}
		if diff := cmp.Diff(got, withPropagation(got, p)); diff != "" {
			t.Errorf("twice (-want +got):\n%s", diff)
		}
	})
}
