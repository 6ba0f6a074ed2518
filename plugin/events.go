package main

import (
	"strconv"
	"strings"

	"github.com/containerd/nri/pkg/api"

	"github.com/mountward/mountward/pkg/runtimeconf"
)

// events returns the events to subscribe. The mask is never 0, which would
// subscribe everything we have a handler for, and has the validation only where
// the runtime knows it: an older one rejects the plugin for it, and goes on
// without us.
//
// Every event here is one that a failure policy applies to, see failurePolicy.
// The last two only clean up; what is kept for a container until it is removed
// cannot do without them.
func events(r peer) api.EventMask {
	var mask api.EventMask
	mask.Set(
		api.Event_CREATE_CONTAINER,
		api.Event_START_CONTAINER,
		api.Event_STOP_CONTAINER,
		api.Event_REMOVE_CONTAINER,
	)
	if r.validates() {
		mask.Set(api.Event_VALIDATE_CONTAINER_ADJUSTMENT)
	}
	return mask
}

// peer is the runtime on the other side of a connection, as it says itself.
type peer struct {
	name, version string
	nri           string // as it says, or as NRI's stub concludes from the two
}

// validates reports whether it has validators. They came with NRI 0.10.
//
// A containerd before 2.3 does not say its NRI, and the stub finds it only by a
// version as the project writes them: not by "2.2.1-0ubuntu1". A containerd 2.2
// cannot be built with an NRI that has no validator.
func (r peer) validates() bool {
	if r.nriKnown() {
		return atLeast(r.nri, 0, 10, 0)
	}
	return r.name == "containerd" && runtimeconf.ParseRelease(r.version).AtLeast(2, 2)
}

// nriKnown reports whether the version of NRI is one.
func (r peer) nriKnown() bool {
	return r.nri != api.UnknownVersion && atLeast(r.nri, 0, 0, 0)
}

// atLeast reports whether a version such as "v0.12.3" or "0.12.3-rc.1" is at
// least major.minor.patch; the patch may be left out. A version that cannot be
// read is not.
func atLeast(version string, major, minor, patch int) bool {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	parts := strings.Split(version, ".")
	if len(parts) < 2 || len(parts) > 3 {
		return false
	}
	for i, least := range []int{major, minor, patch}[:len(parts)] {
		n, err := strconv.ParseUint(parts[i], 10, 31)
		if err != nil {
			return false
		}
		if int(n) != least {
			return int(n) > least
		}
	}
	return len(parts) == 3 || patch == 0
}
