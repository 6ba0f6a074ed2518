package apply

import (
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// TestWhatIsDeferred: with the namespace applier a decision is left to it only
// where the specification cannot carry it and the kernel could make it true.
func TestWhatIsDeferred(t *testing.T) {
	users := func(r *Request) { r.Container.UserNamespace = true }
	for _, test := range []struct {
		name     string
		mount    facts.Mount
		decide   policy.Decision
		change   func(*Request)
		want     facts.Result
		required bool
	}{
		{"user namespace, raise", mount("/d", "/s", &shared, "rprivate"), set(facts.Slave), users, facts.Deferred, false},
		{"user namespace, raise, deny", mount("/d", "/s", &shared, "rprivate"), set(facts.Slave, policy.OnUnmetDeny), users, facts.Deferred, true},
		{"user namespace, lowering", mount("/d", "/s", &shared, "rshared"), set(facts.Private), users, facts.Deferred, true},
		{"user namespace, lowering, leave", mount("/d", "/s", &shared, "rshared"), set(facts.Private, policy.OnUnmetLeave), users, facts.Deferred, false},
		{"user namespace, lowering on a private source", mount("/d", "/p", &private, "rslave"), set(facts.Private), users, facts.Deferred, true},
		{"user namespace, the source is not known", mount("/d", "/s", nil, "rprivate"), set(facts.Slave), users, facts.Deferred, false},
		{"user namespace, static pod", mount("/d", "/s", &shared, "rshared"), set(facts.Private), func(r *Request) { users(r); r.NeverRefuse = true }, facts.Deferred, false},
		{"user namespace, audit mode", mount("/d", "/s", &shared, "rshared"), set(facts.Private), func(r *Request) { users(r); r.Enforce = false }, facts.Deferred, true},
		{"a destination NRI cannot name", mount("-d", "/s", &shared, "rprivate"), set(facts.Slave), nil, facts.Deferred, false},

		{"raise on a private source", mount("/d", "/p", &private, "rprivate"), set(facts.Slave), users, facts.Left, false},
		{"raise of a recursively read-only mount", mount("/d", "/s", &shared, "rprivate", "rro"), set(facts.Slave), users, facts.Left, false},
		{"raise to rshared", mount("/d", "/s", &shared, "rprivate"), set(facts.Shared), users, facts.Left, false},
		{"as asked", mount("/d", "/s", &shared, "rslave"), set(facts.Slave), users, facts.Unchanged, false},
		{"allowed", mount("/d", "/s", &shared, "rshared"), allow, users, facts.Unchanged, false},
		{"denied", mount("/d", "/s", &shared, "rshared"), deny, users, facts.Refused, false},
		{"what the specification carries", mount("/d", "/s", &shared, "rprivate"), set(facts.Slave), nil, facts.Applied, false},
		{"what neither carries", mount("/d", "/p", &private, "rprivate"), set(facts.Slave), nil, facts.Left, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := request([]facts.Mount{test.mount}, test.decide)
			r.Namespace = true
			if test.change != nil {
				test.change(&r)
			}
			plan := Spec(r)
			o := plan.Outcomes[0]
			if o.Result != test.want || o.Required != test.required {
				t.Errorf("%s (%s), required %t; want %s, %t", o.Result, o.Reason, o.Required, test.want, test.required)
			}
			if o.Result == facts.Deferred {
				if o.Decided != test.decide.Propagation || plan.Refusal != nil || len(sent(plan)) != 0 {
					t.Errorf("decided %s, refusal %v, sent %v", o.Decided, plan.Refusal, sent(plan))
				}
				if want := !r.Enforce; o.Would != want || want && o.Expected() != o.Asked {
					t.Errorf("would %t, expected %s", o.Would, o.Expected())
				}
				r.Namespace = false
				if o := Spec(r).Outcomes[0]; o.Result == facts.Deferred {
					t.Error("deferred to an applier that is switched off")
				}
			}
		})
	}
}

// TestEqualDestinationsAreDeferred, each of them.
func TestEqualDestinationsAreDeferred(t *testing.T) {
	r := request([]facts.Mount{mount("/d", "/s", &shared, "rprivate"), mount("/d/", "/s", &shared, "rshared"), mount("/e", "/s", &shared, "rprivate")},
		set(facts.Slave), set(facts.Slave), set(facts.Slave))
	r.Namespace = true
	plan := Spec(r)
	for i, want := range []facts.Result{facts.Deferred, facts.Deferred, facts.Applied} {
		if o := plan.Outcomes[i]; o.Result != want {
			t.Errorf("%s: %s (%s), want %s", o.Mount.Destination, o.Result, o.Reason, want)
		}
	}
}

// TestOptionlessBesideADeferredLowering is T18 of the specification: it gets a
// word where the specification can carry one, and is deferred where not.
func TestOptionlessBesideADeferredLowering(t *testing.T) {
	for _, users := range []bool{false, true} {
		twice := mount("/d", "/s", &shared, "rshared")
		r := request([]facts.Mount{twice, twice, mount("/o", "/s", &shared), mount("/p", "/p", &private)},
			set(facts.Private), set(facts.Private), allow, allow)
		r.Namespace, r.Container.UserNamespace = true, users
		plan := Spec(r)
		want := []facts.Result{facts.Deferred, facts.Deferred, facts.Applied, facts.Applied}
		if users {
			want[2], want[3] = facts.Deferred, facts.Deferred
		}
		decided := []facts.Propagation{facts.Private, facts.Private, facts.Slave, facts.Private}
		for i := range want {
			if o := plan.Outcomes[i]; o.Result != want[i] || o.Decided != decided[i] || i > 1 && (!strings.Contains(o.Reason, "rootfsPropagation") || o.Required) {
				t.Errorf("users %t, %s: %s %s (%s), want %s %s", users, o.Mount.Destination, o.Result, o.Decided, o.Reason, want[i], decided[i])
			}
		}
	}
}

// TestWhatCannotBeToldIsLeft: no deferred outcome stays, nothing else is touched,
// and nothing is refused.
func TestWhatCannotBeToldIsLeft(t *testing.T) {
	deferred := facts.Outcome{Asked: facts.Shared, Decided: facts.Private, Result: facts.Deferred, Required: true}
	would := deferred
	would.Would = true
	applied := facts.Outcome{Asked: facts.Shared, Decided: facts.Private, Result: facts.Applied}
	r := CannotTell([]facts.Outcome{deferred, would, applied}, "no proof")
	if o := r.Outcomes[0]; o.Result != facts.Left || o.Decided != facts.Shared || o.Wanted != facts.Private || o.Required || !strings.Contains(o.Reason, "no proof") {
		t.Errorf("%+v", o)
	}
	if !r.Outcomes[1].Would || r.Outcomes[1].Result != facts.Deferred || r.Outcomes[2].Result != facts.Applied || r.Refusal != nil || r.Idle() {
		t.Errorf("%+v", r)
	}
	if r := CannotTell([]facts.Outcome{applied, would}, "no proof"); !r.Idle() {
		t.Errorf("there was nothing to tell: %+v", r)
	}
}
