package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/containerd/nri/pkg/api"
)

// Configure tells the runtime which events we want. It never fails: containerd
// would log a warning and go on without us. What is wrong with the settings or
// the policy is judged at each creation instead (settings: guard).
func (p *plugin) Configure(_ context.Context, config, runtime, version string) (api.EventMask, error) {
	p.daemon.start(config)
	nri := p.stub.RuntimeNRIVersion()
	mask := events(nri)
	p.daemon.state.configured(link{
		since: p.daemon.now(), pid: p.runtime, runtime: runtime, version: version, nri: nri,
		timeout: p.stub.RequestTimeout(), events: mask,
	})
	log := p.daemon.log().WithField("runtime", runtime+" "+version).WithField("nri", nri)
	if mask.IsSet(api.Event_VALIDATE_CONTAINER_ADJUSTMENT) {
		log.Info("connected to the runtime")
	} else {
		log.Warn("connected to a runtime without validation of adjustments (NRI before 0.10): what later plugins change is only seen at start, and a failed plugin is not noticed in the same request")
	}
	return mask, nil
}

// events returns the events to subscribe. The mask is never 0, which would
// subscribe everything we have a handler for, and has the validation only
// where the runtime knows it: an older one rejects the plugin for it.
func events(nri string) api.EventMask {
	var mask api.EventMask
	mask.Set(
		api.Event_CREATE_CONTAINER,
		api.Event_START_CONTAINER,
		api.Event_STOP_CONTAINER,
		api.Event_REMOVE_CONTAINER,
	)
	if atLeast(nri, 0, 10) {
		mask.Set(api.Event_VALIDATE_CONTAINER_ADJUSTMENT)
	}
	return mask
}

// atLeast reports whether a version such as "v0.12.3" or "0.12.3-rc.1" is at
// least major.minor. A version that cannot be read is not.
func atLeast(version string, major, minor int) bool {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, errA := strconv.Atoi(parts[0])
	b, errB := strconv.Atoi(parts[1])
	if errA != nil || errB != nil {
		return false
	}
	return a > major || a == major && b >= minor
}
