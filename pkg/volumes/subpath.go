package volumes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// maxEntries bounds the volumes of one pod that are looked through.
const maxEntries = 1024

// subPath finds which kind of volume a sub-path is of. k becomes the path of that.
func (m *mapper) subPath(ctx context.Context, t *Mount, k *facts.KubeletPath) {
	found, pod, err := volumesOf(ctx, m.Host, *k)
	switch {
	case err != nil:
		also(&t.Why, "kind of volume "+printable(k.Volume)+": "+because(err))
	case len(found) != 1:
		also(&t.Why, fmt.Sprintf("kind of volume %s: %d plugins have one of this name in %s", printable(k.Volume), len(found), pod))
	default:
		*k = found[0]
		t.Kind = string(k.Kind)
	}
}

// volumesOf returns the volumes that a sub-path can be of: the volume's own
// directory is beside, and its parent, in the returned directory of the pod, is
// named for the plugin.
func volumesOf(ctx context.Context, host Files, k facts.KubeletPath) (found []facts.KubeletPath, pod string, err error) {
	pod = facts.KubeletPath{Root: k.Root, Role: facts.PathPod, PodUID: k.PodUID, Rest: "volumes"}.Path()
	plugins, err := host.ReadDir(ctx, pod, maxEntries)
	if err != nil {
		return nil, pod, err
	}
	for _, plugin := range plugins {
		if !strings.Contains(plugin, "~") {
			continue
		}
		names, err := host.ReadDir(ctx, pod+"/"+plugin, maxEntries)
		if err != nil {
			return nil, pod, err
		}
		of, ok := facts.ParseKubeletPath(pod+"/"+plugin+"/"+k.Volume, k.Root)
		if ok && slices.Contains(names, k.Volume) {
			found = append(found, of)
		}
	}
	return found, pod, nil
}
