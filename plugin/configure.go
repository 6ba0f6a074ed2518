package main

import (
	"context"

	"github.com/containerd/nri/pkg/api"
)

// Configure tells the runtime which events we want, and what it is to do where
// we do not answer. While the runtime listens it never fails: containerd would
// log a warning and go on without us. What is wrong with the settings or the
// policy is judged at each creation instead (settings: guard).
func (p *plugin) Configure(_ context.Context, config, runtime, version string) (api.EventMask, error) {
	d := p.daemon
	if p.life.over.Load() {
		return 0, errLetGo // to the stub: the runtime is not there
	}
	d.start(config)
	p.life.configure()
	d.followNote() // if we hung, somebody may have gone past us
	c := &declared{peer: peer{runtime, version, p.stub.RuntimeNRIVersion()}}
	d.force.Load().declare(p.policy) // the stub sends it when we return
	c.failRequest = p.policy.GetFailRequest()
	p.declared.Store(c)
	d.connection.Store(p)
	mask := events(c.peer)
	d.state.configured(link{
		since: d.now(), pid: p.runtime, runtime: runtime, version: version, nri: c.nri,
		timeout: p.stub.RequestTimeout(), events: mask,
	})
	log := d.log().WithField("runtime", runtime+" "+version).WithField("nri", c.nri)
	if c.validates() {
		log.Info("connected to the runtime")
	} else {
		log.Warn("connected to a runtime without validation of adjustments (NRI before 0.10): failing closed is weakened; what later plugins change is only seen at start, and a plugin that ends within a request is not noticed in it")
	}
	return mask, nil
}
