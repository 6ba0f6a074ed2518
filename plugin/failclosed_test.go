package main

import (
	"errors"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/control"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// TestDeclare: a request fails with us, and we stay connected, only where
// something can be refused.
func TestDeclare(t *testing.T) {
	for _, test := range []struct {
		name string
		inForce
		want bool
	}{
		{"audit", inForce{policy: &policy.Policy{Mode: policy.ModeAudit}}, false},
		{"enforce", inForce{policy: &policy.Policy{Mode: policy.ModeEnforce}}, true},
		{"no policy, deny", inForce{policy: &policy.Policy{Mode: policy.ModeAudit}, refuse: errors.New("none")}, true},
	} {
		declared := &api.FailurePolicy{FailRequest: !test.want, KeepConnected: !test.want}
		test.declare(declared)
		if declared.GetFailRequest() != test.want || declared.GetKeepConnected() != test.want {
			t.Errorf("%s: %v, want both %t", test.name, declared, test.want)
		}
	}
}

// TestParts: which of validator and FailurePolicy a runtime holds, by what is
// known of it. With one of the two, and where containerd requires us, no container
// is created unjudged.
func TestParts(t *testing.T) {
	containerd := func(version, nri string) peer { return peer{"containerd", version, nri} }
	for _, test := range []struct {
		peer
		fail, enforces           bool
		validator, failurePolicy facts.Truth
	}{
		{containerd("v1.7.29", "v0.8.0"), true, true, facts.No, facts.No},
		{containerd("1.7.24~ds1", api.UnknownVersion), true, true, facts.No, facts.Unknown},
		{containerd("2.2.1-0ubuntu1", api.UnknownVersion), true, true, facts.Yes, facts.Unknown},
		{containerd("v2.2.1", "v0.11.0"), true, true, facts.Yes, facts.No},
		{containerd("v2.4.2", "v0.12.3"), true, true, facts.Yes, facts.No},
		{containerd("v2.5.0", "v0.12.4"), true, true, facts.No, facts.Yes},
		{containerd("v2.5.0", "v0.12.5"), false, true, facts.No, facts.No}, // audit, then enforce
		{containerd("v2.5.0", "v0.12.5"), true, false, facts.No, facts.Yes},
		{containerd("v2.5.0", "v0.12.5"), false, false, facts.No, facts.No},
	} {
		c := &declared{peer: test.peer, failRequest: test.fail}
		validator, failure := c.validator(), c.failurePolicy(test.enforces)
		got := []facts.Truth{validator.Truth, failure.Truth}
		if diff := cmp.Diff([]facts.Truth{test.validator, test.failurePolicy}, got); diff != "" {
			t.Errorf("%v, declared %t: (-want +got):\n%s", test.peer, test.fail, diff)
		}
		for _, required := range []bool{true, false} {
			parts := []control.Part{
				{Name: control.PartValidator, Answer: validator},
				{Name: control.PartFailurePolicy, Answer: failure},
				{Name: control.PartRequired, Answer: facts.Is(required, "")},
				{Name: control.PartToleration, Answer: facts.Is(true, "")},
			}
			want := required && (test.validator == facts.Yes || test.failurePolicy == facts.Yes)
			if got := closed(parts); (got == facts.Yes) != want {
				t.Errorf("%v, required %t: fails closed: %s, want %t", test.peer, required, got, want)
			}
			parts[3].Answer = facts.Is(false, "")
			if closed(parts) != facts.No {
				t.Errorf("%v: fails closed for whoever writes an annotation", test.peer)
			}
		}
		if validator.Why == "" || failure.Why == "" {
			t.Errorf("%v: an answer without a reason", test.peer)
		}
	}
}

// TestWhatIsNotKnownOfFailingClosedIsNoNo: one part that is known to be missing
// is enough for a no, and one that nobody could read is not.
func TestWhatIsNotKnownOfFailingClosedIsNoNo(t *testing.T) {
	const yes, no, unknown = facts.Yes, facts.No, facts.Unknown
	for _, test := range []struct {
		validator, failurePolicy, required, toleration, want facts.Truth
	}{
		{yes, no, yes, yes, yes},
		{no, yes, yes, yes, yes},
		{yes, unknown, yes, yes, yes},
		{unknown, yes, yes, yes, yes},
		{no, no, yes, yes, no},
		{no, unknown, yes, yes, unknown},
		{unknown, no, yes, yes, unknown},
		{unknown, no, no, yes, no},
		{yes, no, unknown, yes, unknown},
		{yes, no, unknown, unknown, unknown},
		{yes, no, unknown, no, no},
		{no, no, unknown, unknown, no},
	} {
		got := closed([]control.Part{
			{Name: control.PartValidator, Answer: facts.Answer{Truth: test.validator}},
			{Name: control.PartFailurePolicy, Answer: facts.Answer{Truth: test.failurePolicy}},
			{Name: control.PartRequired, Answer: facts.Answer{Truth: test.required}},
			{Name: control.PartToleration, Answer: facts.Answer{Truth: test.toleration}},
		})
		if got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
	if got := closed(nil); got != unknown {
		t.Errorf("of nothing: %s", got)
	}
}
