package cli

import (
	"context"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/manifest"
	"github.com/mountward/mountward/pkg/volumes"
)

// volumes fills in which volumes the mounts are of, as far as the policy asks: from
// the path and the kubelet's directories as the daemon does, and from the manifest
// where these are not there yet.
func (j judge) volumes(ctx context.Context, s *manifest.Subject) {
	if !j.policy.AsksVolumes() {
		return
	}
	wanted := volumes.Wanted{Kind: j.policy.AsksKinds(), Driver: j.policy.AsksDrivers()}
	for i := range s.Container.Mounts {
		m := &s.Container.Mounts[i]
		v, path := facts.VolumeOf(&s.Container, m, j.env.KubeletRoot)
		v, all := shownBy(v, s.Notes[i])
		if j.host != nil && !all {
			v = volumes.Complete(ctx, j.host, v, path, wanted)
		}
		m.Volume = v
	}
}

// shownBy adds what a manifest shows of a volume to what its path does, and reports
// whether the node cannot tell more: of a claim the path is a guess.
func shownBy(v facts.Volume, n manifest.Note) (facts.Volume, bool) {
	switch {
	case n.MadeBy != "" || n.Volume == "": // no volume of a manifest
		return v, false
	case n.Kind == "":
		untold := facts.Untold(n.Unknown)
		return facts.Volume{Kind: untold, Name: untold, Driver: untold}, true
	}
	subPath := !v.Kind.Known
	v.Kind = facts.Says(n.Kind)
	if subPath || n.Kind != facts.VolumeHostPath { // a hostPath leads into what it may
		v.Driver = facts.Says(n.Driver)
	}
	return v, false
}
