package main

import (
	"github.com/containerd/nri/pkg/api"

	"github.com/mountward/mountward/pkg/policy"
)

// A failure policy is what the runtime does for a plugin that does not answer:
// one that hangs as a whole, is killed or loses its connection. NRI knows it
// since 0.12.4, where it takes the place of the validator, which is asked only
// while it is connected; an older one ignores it.
//
// It is declared once a connection, with the answer to Configure, and holds for
// every subscribed event:
//
//   - In enforce mode the request fails. That is wanted of a creation and of a
//     start, also of a static pod's, since nobody is left to tell them apart. For
//     an event that only cleans up it does no harm: containerd writes a line to
//     its log and goes on (StopContainer and RemoveContainer in
//     internal/cri/server of 2.4.2; and so seen with that built with NRI
//     0.12.5), after the 2 s of the request.
//   - In enforce mode we stay connected after a timeout. A node that stood still
//     for two seconds costs one request then; a launched plugin would be killed
//     and never come back, and with required_plugins no container would be
//     created until containerd is restarted.
//   - In audit mode nothing is declared: the request goes on, and a plugin that
//     hangs is dropped, so that it delays one request and not each.
//
// A policy that is loaded later cannot change it: to connect anew would stop the
// container operations of the node. From audit to enforce the guard is in force
// but for this one part, which says so in the status; from enforce to audit our
// end in the middle of a request still fails that one.
func (f *inForce) declare(to *api.FailurePolicy) {
	to.FailRequest = f.enforces()
	to.KeepConnected = to.FailRequest
}

// holdsStill says where what was declared is not what the policy now in force
// would declare.
func (p *plugin) holdsStill(f *inForce) {
	c := p.declared.Load()
	if c == nil || !c.hasFailurePolicy() || c.failRequest == f.enforces() {
		return
	}
	if c.failRequest {
		p.daemon.log().Info("FailurePolicy was declared in enforce mode and holds until the next connection: a request in which mountward ends or hangs fails")
		return
	}
	a := c.failurePolicy(f.enforces())
	p.daemon.log().Warnf("FailurePolicy is not in force: %s", a.Why)
}

// enforces reports whether anything can be refused.
func (f *inForce) enforces() bool {
	return f.refuse != nil || f.policy.Mode == policy.ModeEnforce
}
