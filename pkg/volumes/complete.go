package volumes

import (
	"context"
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
)

// Wanted says which facts about a volume somebody asks for.
type Wanted struct{ Kind, Driver bool }

// Complete adds to what [facts.VolumeOf] says of a volume what only the kubelet's
// directories tell, where it is wanted: of which kind of volume a sub-path is, and
// the driver of a CSI volume (vol_data.json). Nothing in a volume is looked at,
// and once ctx is over nothing at all. What could not be found out stays unknown,
// with why.
func Complete(ctx context.Context, host Files, v facts.Volume, k facts.KubeletPath, wanted Wanted) facts.Volume {
	if (!wanted.Kind || v.Kind.Known) && (!wanted.Driver || v.Driver.Known) {
		return v
	}
	if k.Role == facts.PathSubpath {
		var found bool
		if v, k, found = ofSubPath(ctx, host, v, k); !found {
			return v
		}
	}
	if !wanted.Driver || v.Driver.Known || k.Kind != facts.KindCSI {
		return v
	}
	dir, ok := dataOf(k)
	if !ok {
		return v
	}
	d, err := timely(ctx, func() (volumeData, error) { return volumeDataIn(ctx, host, dir, k.Volume) })
	v.Driver = facts.Says(d.Driver)
	if err != nil {
		v.Driver = facts.Untold(because(err))
	}
	return v
}

// ofSubPath finds the volume that a sub-path is of. The kubelet keeps a directory
// in the pod for every kind of volume but a hostPath. Source: kubernetes 1.37
// pkg/volume/hostpath.
func ofSubPath(ctx context.Context, host Files, v facts.Volume, k facts.KubeletPath) (facts.Volume, facts.KubeletPath, bool) {
	own := !v.Kind.Known // else it is a hostPath into another pod, whatever is found
	var pod string
	found, err := timely(ctx, func() (found []facts.KubeletPath, err error) {
		found, pod, err = volumesOf(ctx, host, k)
		return found, err
	})
	var kind, driver facts.Word
	switch {
	case err != nil:
		kind = facts.Untold("which volume the sub-path is of: " + because(err))
		driver = kind
	case len(found) > 1:
		kind = facts.Untold(fmt.Sprintf("%d plugins have a volume of this name in %s", len(found), pod))
		driver = kind
	case len(found) == 0:
		kind, driver = facts.Says(facts.VolumeHostPath), facts.Says("")
	default:
		k = found[0]
		kind, driver = facts.Says(k.Kind.Kubernetes()), facts.DriverOf(k)
	}
	if own {
		v.Kind = kind
	}
	v.Driver = driver
	return v, k, err == nil && len(found) == 1
}

// dataOf returns the directory of the vol_data.json about a path.
func dataOf(k facts.KubeletPath) (string, bool) {
	switch k.Role {
	case facts.PathVolume, facts.PathTarget:
		return parentOf(k), true
	case facts.PathStaged, facts.PathStaging:
		k.Role, k.Rest = facts.PathStaged, ""
		return k.Path(), true
	case facts.PathDevice:
		return facts.KubeletPath{Root: k.Root, Role: facts.PathDevData, PV: k.Volume}.Path(), true
	case facts.PathDevStage, facts.PathDevTarget, facts.PathDevMap, facts.PathDevData:
		return facts.KubeletPath{Root: k.Root, Role: facts.PathDevData, PV: k.PV}.Path(), true
	default:
		return "", false
	}
}

// timely asks only while there is time.
func timely[T any](ctx context.Context, ask func() (T, error)) (T, error) {
	if err := ctx.Err(); err != nil {
		var none T
		return none, fmt.Errorf("there was no time left to look: %w", err)
	}
	return ask()
}
