package apply

import (
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// TestWhatIsDoneInsideANamespace is the whole table.
func TestWhatIsDoneInsideANamespace(t *testing.T) {
	var (
		none     = facts.MountState{}
		host     = facts.MountState{Peer: 25, Master: 3} // the host's mount
		peer     = facts.MountState{Peer: 25, Master: 3} // a member of its group
		slave    = facts.MountState{Master: 25}
		userns   = facts.MountState{Peer: 70, Master: 25} // rshared in a user namespace
		ownGroup = facts.MountState{Peer: 70}             // rprivate under rootfsPropagation=rshared
		sibling  = facts.MountState{Master: 3}            // receives what the host receives
		foreign  = facts.MountState{Master: 99}
		only     = facts.MountState{Master: 3} // a host mount that only receives
	)
	for _, test := range []struct {
		name    string
		decided facts.Propagation
		seen    facts.MountState
		host    *facts.MountState
		rro     bool
		want    verb
		why     string
	}{
		{"nothing was decided", facts.Unset, peer, &host, false, keep, ""},

		{"private: it is", facts.Private, none, &host, false, keep, ""},
		{"private: a peer", facts.Private, peer, &host, false, makePrivate, ""},
		{"private: a slave", facts.Private, slave, &host, false, makePrivate, ""},
		{"private: in a group of its own", facts.Private, ownGroup, &host, false, makePrivate, ""},
		{"private: in a user namespace", facts.Private, userns, &host, false, makePrivate, ""},
		{"private: of a group that is not known", facts.Private, foreign, nil, false, makePrivate, ""},
		{"private: it is, the host is not known", facts.Private, none, nil, false, keep, ""},
		{"private: recursively read-only", facts.Private, slave, &host, true, makePrivate, ""},
		{"unbindable is private", facts.Unbindable, peer, &host, false, makePrivate, ""},

		{"slave: it is", facts.Slave, slave, &host, false, keep, ""},
		{"slave: in a user namespace", facts.Slave, userns, &host, false, keep, ""},
		{"slave: it has the host mount's master", facts.Slave, sibling, &host, false, keep, ""},
		{"slave: a peer", facts.Slave, peer, &host, false, makeSlave, ""},
		{"slave: shared, the host is not known", facts.Slave, peer, nil, false, makeSlave, ""},
		{"slave: receives, the host is not known", facts.Slave, slave, nil, false, keep, ""},
		{"slave: private, the host is not known", facts.Slave, none, nil, false, cannotTell, "because"},
		{"slave: private", facts.Slave, none, &host, false, raise, ""},
		{"slave: private, the host only receives", facts.Slave, none, &only, false, raise, ""},
		{"slave: in a group of its own", facts.Slave, ownGroup, &host, false, raise, ""},
		{"slave: recursively read-only", facts.Slave, none, &host, true, cannot, "recursively read-only"},
		{"slave: the host is private", facts.Slave, none, &none, false, cannot, "its host mount is private"},
		{"slave: it receives from elsewhere", facts.Slave, foreign, &host, false, cannot, "peer group 99"},

		{"shared: it is", facts.Shared, peer, &host, false, keep, ""},
		{"shared: it is not", facts.Shared, slave, &host, false, cannot, "raised to rshared"},
		{"shared: the host is not known", facts.Shared, peer, nil, false, cannot, "raised to rshared"},
	} {
		s := sight{decided: test.decided, seen: test.seen, host: test.host, hostWhy: "because", rro: test.rro}
		if got, why := s.verb(); got != test.want || !strings.Contains(why, test.why) || (why == "") != (test.why == "") {
			t.Errorf("%s: %s (%s), want %s (%s)", test.name, got, why, test.want, test.why)
		}
	}
}

// TestNothingIsRaisedFurtherThanDecided: whatever the states are, no verb gives
// a mount more than was decided, and none that acts is left at what it had.
func TestNothingIsRaisedFurtherThanDecided(t *testing.T) {
	var states []facts.MountState
	for _, peer := range []int{0, 1, 2} {
		for _, master := range []int{0, 1, 2, 3} {
			states = append(states, facts.MountState{Peer: peer, Master: master})
		}
	}
	gives := map[verb]facts.Propagation{makePrivate: facts.Private, makeSlave: facts.Slave, raise: facts.Slave}
	for _, decided := range []facts.Propagation{facts.Unbindable, facts.Private, facts.Slave, facts.Shared} {
		for _, seen := range states {
			for i := range states {
				for _, host := range []*facts.MountState{nil, &states[i]} {
					do, _ := sight{decided: decided, seen: seen, host: host}.verb()
					if p, ok := gives[do]; ok && p.Reach() > decided.Reach() {
						t.Errorf("decided %s, seen %s, host %v: %s", decided, seen, host, do)
					}
					if do == makeSlave && !seen.Shared() || do == makePrivate && !seen.Receives() || do == raise && seen.Master != 0 {
						t.Errorf("decided %s, seen %s, host %v: %s does nothing or too much", decided, seen, host, do)
					}
				}
			}
		}
	}
}
