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

// subPath finds which kind of volume a sub-path is of: the volume's own
// directory is beside, and its parent is named for the plugin. k becomes the
// path of that.
func (m *mapper) subPath(ctx context.Context, t *Mount, k *facts.KubeletPath) {
	pod := facts.KubeletPath{Root: k.Root, Role: facts.PathPod, PodUID: k.PodUID, Rest: "volumes"}.Path()
	plugins, err := m.Host.ReadDir(ctx, pod, maxEntries)
	if err != nil {
		also(&t.Why, "kind of volume "+printable(k.Volume)+": "+because(err))
		return
	}
	var found []facts.KubeletPath
	for _, plugin := range plugins {
		if !strings.Contains(plugin, "~") {
			continue
		}
		names, err := m.Host.ReadDir(ctx, pod+"/"+plugin, maxEntries)
		if err != nil {
			also(&t.Why, "kind of volume "+printable(k.Volume)+": "+because(err))
			return
		}
		of, ok := facts.ParseKubeletPath(pod+"/"+plugin+"/"+k.Volume, k.Root)
		if ok && slices.Contains(names, k.Volume) {
			found = append(found, of)
		}
	}
	if len(found) != 1 {
		also(&t.Why, fmt.Sprintf("kind of volume %s: %d plugins have one of this name in %s", printable(k.Volume), len(found), pod))
		return
	}
	*k = found[0]
	t.Kind = string(k.Kind)
}
