package verify

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// state reads a state as mountinfo writes it.
func state(t *testing.T, optional string) facts.MountState {
	t.Helper()
	s, err := facts.ParseMountState(optional)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestJudge is the table of what is decided, what the container has and what
// the host's mount is. "same!" is Same with a reason.
func TestJudge(t *testing.T) {
	const (
		same    = "same"
		hint    = "same!"
		less    = "less"
		more    = "more"
		unknown = "unknown"
	)
	tests := []struct {
		host, seen             string
		private, slave, shared string // the verdict for each decision
	}{
		// The three states that runc makes of a shared mount.
		{"shared:5", "", same, less, less},
		{"shared:5", "master:5", more, same, less},
		{"shared:5", "shared:5", more, more, same},
		// A group of its own reaches nobody, and may receive.
		{"shared:5", "shared:9", same, less, less},
		{"shared:5", "shared:9 master:5", more, same, less},
		{"shared:5", "unbindable", same, less, less},
		// The host's mount is itself a slave and shared: below a node's root.
		{"shared:5 master:1", "", same, less, less},
		{"shared:5 master:1", "master:5", more, same, less},
		{"shared:5 master:1", "shared:5 master:1", more, more, same},
		{"shared:5 master:1", "shared:9 master:5", more, same, less},
		// The master's mounts arrive, those made on the host do not.
		{"shared:5 master:1", "master:1", more, less, less},
		{"shared:5 master:1", "shared:9 master:1", more, less, less},
		// Slave only: nothing made in place travels, what is made above does.
		{"master:1", "", same, less, less},
		{"master:1", "master:1", more, hint, less},
		{"master:1", "shared:9 master:1", more, hint, less},
		// A private mount gives nothing.
		{"", "", same, less, less},
		{"", "shared:9", same, less, less},
		{"unbindable", "", same, less, less},
		// Some group that is not the host mount's: nobody can say whose.
		{"shared:5", "master:7", unknown, less, less},
		{"shared:5", "shared:9 master:7", unknown, less, less},
		{"master:1", "master:7", unknown, less, less},
		{"", "master:7", unknown, less, less},
		{"", "shared:9 master:7", unknown, less, less},
	}
	for _, test := range tests {
		host, seen := state(t, test.host), state(t, test.seen)
		for decided, want := range map[facts.Propagation]string{
			facts.Private: test.private, facts.Unbindable: test.private, facts.Slave: test.slave, facts.Shared: test.shared,
		} {
			v, isMore, reason := judge(decided, seen, host)
			got := map[Verdict]string{Same: same, Drift: less, Unknown: unknown}[v]
			switch {
			case isMore && v == Drift:
				got = more
			case isMore:
				got = "more, and " + string(v)
			case v == Same && reason != "":
				got = hint
			}
			if got != want {
				t.Errorf("decided %s, container %q, host %q: %s (%s), want %s", decided, test.seen, test.host, got, reason, want)
			}
			if v != Same && !strings.Contains(reason, decided.Option()) {
				t.Errorf("decided %s, container %q, host %q: reason %q does not say what was decided", decided, test.seen, test.host, reason)
			}
		}
	}
}

// TestCureOfLess: a reason says what changed on the host, where that is why.
func TestCureOfLess(t *testing.T) {
	for _, test := range []struct{ host, seen, want string }{
		{"", "", "is private now"},
		{"", "master:7", "is private now"},
		{"shared:5", "master:7", "was replaced or shared anew"},
		{"shared:5", "", "the kernel has private"},
		{"shared:5 master:1", "master:1", "only what is mounted at the master"},
	} {
		if _, _, reason := judge(facts.Slave, state(t, test.seen), state(t, test.host)); !strings.Contains(reason, test.want) {
			t.Errorf("container %q, host %q: reason = %q, want %q in it", test.seen, test.host, reason, test.want)
		}
	}
}

const containerTable = `100 1 0:50 / / rw,relatime master:1 - overlay overlay rw
101 100 8:1 /srv/a /a rw - ext4 /dev/sda1 rw
102 100 8:1 /srv/b /b rw master:5 - ext4 /dev/sda1 rw
103 100 8:1 /srv/c /c rw shared:5 - ext4 /dev/sda1 rw
104 100 8:1 /srv/link /run/link rw master:5 - ext4 /dev/sda1 rw
105 100 8:1 /srv/twice /twice/1 rw master:5 - ext4 /dev/sda1 rw
106 100 8:1 /srv/twice /twice/2 rw - ext4 /dev/sda1 rw
107 100 8:1 /srv/stack /stack rw shared:5 - ext4 /dev/sda1 rw
108 107 0:60 / /stack rw - tmpfs tmpfs rw
`

func table(t *testing.T) *hostview.Table {
	t.Helper()
	tab, err := hostview.ReadTable(strings.NewReader(containerTable))
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// hosts is a host where /srv is a directory on the shared mount / of sda1, and
// a file system lies over /srv/over.
func hosts(path string) (facts.HostMount, error) {
	m := facts.HostMount{
		Canonical: path, MountPoint: "/", Root: "/", FSType: "ext4",
		Device: facts.DeviceNumber{Major: 8, Minor: 1}, State: facts.MountState{Peer: 5},
	}
	switch path {
	case "/srv/over", "/srv/a-over":
		m.MountPoint, m.Device, m.FSType, m.State = path, facts.DeviceNumber{Minor: 70}, "tmpfs", facts.MountState{Peer: 6}
	case "/srv/hung":
		return facts.HostMount{}, &hostview.CannotTell{Path: path, Why: "its file system did not answer"}
	case "/srv/nothing":
		return facts.HostMount{}, nil
	}
	return m, nil
}

// outcome is a bind that must have the propagation, decided about when its
// source was on the root file system.
func outcome(destination, source string, decided facts.Propagation) facts.Outcome {
	return facts.Outcome{
		Mount: facts.Mount{Destination: destination, Source: source, Type: "bind", Host: &facts.HostMount{
			Canonical: source, MountPoint: "/", Root: "/", Device: facts.DeviceNumber{Major: 8, Minor: 1},
		}},
		Asked: facts.Private, Decided: decided, Action: facts.ActionSet, Result: facts.Applied,
	}
}

func prove(t *testing.T, table *hostview.Table, host Lookup, outcomes ...facts.Outcome) []Proof {
	t.Helper()
	return Mounts(outcomes, Locate(outcomes, table), host)
}

func TestMounts(t *testing.T) {
	tests := []struct {
		name    string
		outcome facts.Outcome
		want    Verdict
		more    bool
		reason  string
		seen    string // state, or "-" for not read
		host    string
	}{
		{"as decided", outcome("/a", "/srv/a", facts.Private), Same, false, "", "private", "shared:5"},
		{"unclean destination", outcome("/x/..//b/", "/srv/b", facts.Slave), Same, false, "", "master:5", "shared:5"},
		{"relative destination", outcome("c", "/srv/c", facts.Shared), Same, false, "", "shared:5", "shared:5"},
		{"more", outcome("/c", "/srv/c", facts.Slave), Drift, true, "decided rslave, the kernel has shared:5", "shared:5", "shared:5"},
		{"less", outcome("/a", "/srv/a", facts.Slave), Drift, false, "decided rslave, the kernel has private", "private", "shared:5"},
		{"a symbolic link of the image led elsewhere", outcome("/var/run/link", "/srv/link", facts.Slave), Same, false, "", "master:5", "shared:5"},
		{"more behind a symbolic link", outcome("/var/run/link", "/srv/link", facts.Private), Drift, true, "decided rprivate", "master:5", "shared:5"},
		{"two mounts fit behind a symbolic link", outcome("/var/twice", "/srv/twice", facts.Private), Unknown, false, "which is which", "-", "shared:5"},
		{"nothing fits", outcome("/none", "/srv/none", facts.Slave), Unknown, false, "no mount at /none", "-", "shared:5"},
		{"the source overmounted since", outcome("/a", "/srv/a-over", facts.Slave), Unknown, false, "overmounted or replaced", "-", "shared:6"},
		{"overmounted in the container", outcome("/stack", "/srv/stack", facts.Private), Unknown, false, "which is which", "-", "shared:5"},
		{"the source does not answer", outcome("/b", "/srv/hung", facts.Slave), Unknown, false, "did not answer", "-", "-"},
		{"a source without identity", outcome("/b", "/srv/nothing", facts.Slave), Unknown, false, "overmounted or replaced", "-", "private"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			proofs := prove(t, table(t), hosts, test.outcome)
			if len(proofs) != 1 {
				t.Fatalf("%d proofs, want 1", len(proofs))
			}
			p := proofs[0]
			if p.Verdict != test.want || p.More != test.more || !strings.Contains(p.Reason, test.reason) || test.reason == "" && p.Reason != "" {
				t.Errorf("%s, more %t (%s), want %s, more %t (%s)", p.Verdict, p.More, p.Reason, test.want, test.more, test.reason)
			}
			text := func(s *facts.MountState) string {
				if s == nil {
					return "-"
				}
				return s.String()
			}
			if got := text(p.Seen); got != test.seen {
				t.Errorf("seen %s, want %s", got, test.seen)
			}
			if got := text(p.Host); got != test.host {
				t.Errorf("host %s, want %s", got, test.host)
			}
			if p.Destination != test.outcome.Mount.Destination || p.Source != test.outcome.Mount.Source || p.Decided != test.outcome.Decided {
				t.Errorf("proof is about %s from %s, decided %s", p.Destination, p.Source, p.Decided)
			}
		})
	}
}

// TestDuplicateDestinations: of several mounts in one place none is told, and
// so none is held against the container.
func TestDuplicateDestinations(t *testing.T) {
	proofs := prove(t, table(t), hosts,
		outcome("/c", "/srv/c", facts.Private), outcome("/x/../c/", "/srv/c", facts.Shared), outcome("/b", "/srv/b", facts.Slave),
		outcome("/a", "/srv/elsewhere", facts.Private),
		facts.Outcome{Mount: facts.Mount{Destination: "/a/", Type: "tmpfs", Source: "tmpfs"}, Decided: facts.Unset},
	)
	var got []string
	for _, p := range proofs {
		got = append(got, fmt.Sprintf("%s %s", p.Destination, p.Verdict))
	}
	want := []string{"/c unknown", "/x/../c/ unknown", "/b same", "/a unknown"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("proofs (-want +got):\n%s", diff)
	}
}

// TestTwoDestinationsInOnePlace: a symbolic link of the image can lead one
// mount to where another one is. What is seen there is only one of the two.
func TestTwoDestinationsInOnePlace(t *testing.T) {
	stacked, err := hostview.ReadTable(strings.NewReader(containerTable + "109 104 8:1 /srv/link /run/link rw - ext4 /dev/sda1 rw\n"))
	if err != nil {
		t.Fatal(err)
	}
	proofs := prove(t, stacked, hosts, outcome("/run/link", "/srv/link", facts.Private), outcome("/var/run/link", "/srv/link", facts.Slave))
	for _, p := range proofs {
		if p.Verdict != Unknown || p.More || !strings.Contains(p.Reason, "which is which") {
			t.Errorf("%s: %s, more %t (%s), want unknown", p.Destination, p.Verdict, p.More, p.Reason)
		}
	}
	if len(proofs) != 2 {
		t.Errorf("%d proofs, want 2", len(proofs))
	}
}

// TestWhatClaimsNothingHasNoProof: no propagation asked, or no bind.
func TestWhatClaimsNothingHasNoProof(t *testing.T) {
	unset := outcome("/a", "/srv/a", facts.Unset)
	tmpfs := outcome("/b", "tmpfs", facts.Slave)
	tmpfs.Mount.Type = "tmpfs"
	lookups := 0
	proofs := prove(t, table(t), func(string) (facts.HostMount, error) {
		lookups++
		return facts.HostMount{}, errors.New("not asked")
	}, unset, tmpfs)
	if len(proofs) != 0 || lookups != 0 {
		t.Errorf("%d proofs and %d lookups, want none: %+v", len(proofs), lookups, proofs)
	}
}

// TestAuditModeExpectsWhatWasAsked: what would have been done is not held
// against the container.
func TestAuditModeExpectsWhatWasAsked(t *testing.T) {
	would := outcome("/a", "/srv/a", facts.Slave)
	would.Would = true
	proofs := prove(t, table(t), hosts, would)
	if len(proofs) != 1 || proofs[0].Verdict != Same || proofs[0].Decided != facts.Private {
		t.Errorf("proofs = %+v, want same about private", proofs)
	}
}

// TestMoreThanDecided keeps drift that lets less through apart.
func TestMoreThanDecided(t *testing.T) {
	proofs := prove(t, table(t), hosts,
		outcome("/a", "/srv/a", facts.Slave), outcome("/b", "/srv/b", facts.Private), outcome("/c", "/srv/c", facts.Shared), outcome("/none", "/srv/none", facts.Private))
	var got []string
	for _, p := range MoreThanDecided(proofs) {
		got = append(got, p.Destination)
	}
	if diff := cmp.Diff([]string{"/b"}, got); diff != "" {
		t.Errorf("more than decided (-want +got):\n%s", diff)
	}
}

// TestWhatIsAtADestinationCountsWhereNothingWasDecided: two volumes of a running
// container that were exchanged on the host since are told as the container has
// them; a mount that no destination shows is still found by what it is.
func TestWhatIsAtADestinationCountsWhereNothingWasDecided(t *testing.T) {
	text := `100 1 0:50 / / rw - overlay overlay rw
101 100 7:4 / /d rw - ext4 /dev/loop4 rw
102 100 7:1 / /e rw - xfs /dev/loop1 rw
103 100 7:2 / /run/data rw - ext4 /dev/loop2 rw
`
	table, err := hostview.ReadTable(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	now := func(destination, source string, minor uint32) facts.Outcome {
		o := outcome(destination, source, facts.Unset)
		o.Mount.Host = &facts.HostMount{Canonical: source, MountPoint: source, Root: "/", Device: facts.DeviceNumber{Major: 7, Minor: minor}}
		return o
	}
	outcomes := []facts.Outcome{now("/d", "/p1", 1), now("/e", "/p2", 4), now("/var/run/data", "/p3", 2)}
	for i, want := range []string{"/d 7:4", "/e 7:1", "/run/data 7:2"} {
		p := LocateUnknown(outcomes, table).Places[i]
		if got := p.Entry.MountPoint + " " + p.Entry.Device.String(); !p.Found || got != want {
			t.Errorf("%s is at %s, want %s", outcomes[i].Mount.Destination, got, want)
		}
	}
	// What was decided about is looked for wherever it is.
	if p := Locate(outcomes, table).Places[0]; p.Entry.MountPoint != "/e" {
		t.Errorf("what was decided about is at %s, want /e", p.Entry.MountPoint)
	}
}

// TestWhoseAStrayIs: what came along with a bind, what the runtime makes by
// itself, and what neither explains.
func TestWhoseAStrayIs(t *testing.T) {
	bind := facts.Outcome{Mount: facts.Mount{
		Destination: "/data", Type: "bind", Host: &facts.HostMount{Canonical: "/host/data", MountPoint: "/host/data", Root: "/"},
	}}
	unread := bind
	unread.Mount.Host = nil
	outcomes := []facts.Outcome{bind, {Mount: facts.Mount{Destination: "/dev", Type: "tmpfs"}}, unread}
	located := Located{Places: []Place{
		{Found: true, Entry: hostview.Entry{MountPoint: "/data"}},
		{Found: true, Entry: hostview.Entry{MountPoint: "/dev"}},
		{Found: true, Entry: hostview.Entry{MountPoint: "/data"}},
	}}
	volume := facts.DeviceNumber{Major: 253, Minor: 1}
	host := func(path string) (facts.HostMount, error) {
		if path != "/host/data/sub" {
			return facts.HostMount{}, errors.New("nothing there")
		}
		return facts.HostMount{Canonical: path, MountPoint: path, Root: "/", Device: volume}, nil
	}
	for _, test := range []struct {
		name           string
		entry          hostview.Entry
		on             int
		along, runtime bool
	}{
		{"the host has it there", hostview.Entry{MountPoint: "/data/sub", Root: "/", Device: volume, FSType: "ext4"}, 0, true, false},
		{"the host has another there", hostview.Entry{MountPoint: "/data/sub", Root: "/x", Device: volume, FSType: "ext4"}, 0, false, false},
		{"the host has none there", hostview.Entry{MountPoint: "/data/other", Root: "/", Device: volume, FSType: "ext4"}, 0, false, false},
		{"on a bind whose source is not known", hostview.Entry{MountPoint: "/data/sub", Root: "/", Device: volume, FSType: "ext4"}, 2, false, false},
		{"on the root file system", hostview.Entry{MountPoint: "/data/sub", Root: "/", Device: volume, FSType: "proc"}, -1, false, false},
		{"a cgroup on what is no bind", hostview.Entry{MountPoint: "/dev/cgroup", Root: "/", FSType: "cgroup"}, 1, false, true},
		{"a cgroup on a bind", hostview.Entry{MountPoint: "/data/cgroup", Root: "/", FSType: "cgroup"}, 0, false, false},
		{"a device node", hostview.Entry{MountPoint: "/dev/null", Root: "/null", FSType: "devtmpfs"}, 1, false, true},
		{"another device node", hostview.Entry{MountPoint: "/dev/sda", Root: "/sda", FSType: "devtmpfs"}, 1, false, false},
		{"a tmpfs in /dev", hostview.Entry{MountPoint: "/dev/x", Root: "/", FSType: "tmpfs"}, 1, false, false},
	} {
		stray := Stray{Entry: test.entry, On: test.on}
		along, runtime := located.CameAlong(outcomes, stray, host), located.RuntimeMade(outcomes, stray)
		if along != test.along || runtime != test.runtime {
			t.Errorf("%s: came along %t, runtime's %t; want %t, %t", test.name, along, runtime, test.along, test.runtime)
		}
	}
}
