package target

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/volumes"
)

// named finds containers and pods.
func (r *resolver) named(ctx context.Context, arg string) ([]Target, error) {
	var s volumes.Survey
	if r.Survey != nil {
		s = r.Survey(ctx)
	}
	filter := volumes.Filter{Name: arg}
	if namespace, pod, ok := strings.Cut(arg, "/"); ok {
		filter = volumes.Filter{Namespace: namespace, Pod: pod}
	}
	members := s.Select(filter).Members
	if len(members) == 0 {
		if t, ok := r.deadPod(arg); ok {
			return []Target{t}, nil
		}
		if len(s.Unknown) > 0 {
			return nil, fmt.Errorf("no container or pod that could be read is called so; not all could: %s: %s", s.Unknown[0].What, s.Unknown[0].Why)
		}
		return nil, fmt.Errorf("%w: no container or pod is called so", ErrNone)
	}
	var all []Target
	for _, m := range members {
		key := keyOf(m, arg)
		i := slices.IndexFunc(all, func(t Target) bool { return t.Name == key.Name && t.Kind == key.Kind })
		if i < 0 {
			all = append(all, key)
			i = len(all) - 1
		}
		r.member(&all[i], m)
	}
	if len(all) > 1 {
		for i := range all {
			all[i].Notes = append(all[i].Notes, fmt.Sprintf("%s is the name of %d", arg, len(all)))
		}
	}
	return all, nil
}

// keyOf is the target that a member belongs to: its pod, unless the container
// was named.
func keyOf(m volumes.Member, arg string) Target {
	pod := m.Container.Pod
	if pod.Name == "" {
		return Target{Kind: KindContainer, Name: m.Container.ID}
	}
	name := pod.Namespace + "/" + pod.Name
	if arg == pod.Name || arg == pod.UID || arg == name {
		return Target{Kind: KindPod, Name: name}
	}
	return Target{Kind: KindContainer, Name: name + "/" + cmp.Or(m.Container.Name, m.Container.ID)}
}

// member adds what one container has: its root filesystem, its volumes and its
// raw block devices. Paths of the host that it was given are not its own.
func (r *resolver) member(t *Target, m volumes.Member) {
	why := func(what, reason string) {
		if t.Why == "" {
			t.Why = what + ": " + reason
		}
	}
	if m.Identity.Truth != facts.Yes {
		why("container "+cmp.Or(m.Container.Name, m.Container.ID), m.Identity.Why)
	}
	r.rootfs(t, m.Rootfs)
	for i := range m.Mounts {
		switch mount := &m.Mounts[i]; {
		case mount.Kind == volumes.KindRuntime, mount.Kind == volumes.KindKubelet:
		case mount.Kind == volumes.KindHostPath:
			note(t, fmt.Sprintf("%s is a path of the host: ask for it by itself", mount.Source))
		case mount.Device.IsZero() && mount.Superblock.IsZero():
			why("mount "+mount.Destination, cmp.Or(mount.Why, mount.NoLV, "its superblock is not known"))
		default:
			s := Superblock{Device: mount.Device, FSType: mount.FSType, Root: mount.Root, Mounted: mount.MountPoint}
			if !mount.Superblock.IsZero() {
				s.Device = mount.Superblock
			}
			r.join(t, s)
		}
	}
	for _, raw := range m.Raw {
		if raw.Volume == "" || raw.Device.IsZero() || slices.Contains(t.Blocks, raw.Device) {
			continue
		}
		t.Blocks = append(t.Blocks, raw.Device)
		r.join(t, r.superblock(raw.Device))
	}
}

func (r *resolver) rootfs(t *Target, rootfs volumes.Rootfs) {
	s := Superblock{Device: rootfs.Device, FSType: rootfs.FSType, Root: rootfs.Root, Mounted: rootfs.Path}
	if !rootfs.Superblock.IsZero() {
		s.Device, s.Root = rootfs.Superblock, "/"
	}
	if !s.Device.IsZero() && s.FSType != "" {
		r.join(t, s)
	}
}

// join adds a superblock once.
func (r *resolver) join(t *Target, s Superblock) {
	if chain, ok := r.stack.Chain(s.Device); ok {
		s.describe(chain)
	}
	same := func(o Superblock) bool { return o.Device == s.Device && o.Root == s.Root }
	if !slices.ContainsFunc(t.Superblocks, same) {
		t.Superblocks = append(t.Superblocks, s)
	}
}

func note(t *Target, text string) {
	if !slices.Contains(t.Notes, text) {
		t.Notes = append(t.Notes, text)
	}
}

// deadPod finds what is mounted in the directories of a pod of which no
// container is left, by its uid.
func (r *resolver) deadPod(uid string) (Target, bool) {
	t := Target{Name: uid, Kind: KindPod}
	if r.table == nil || strings.Contains(uid, "/") {
		return t, false
	}
	for e := range r.table.All() {
		if k, ok := facts.ParseKubeletPath(e.MountPoint, r.KubeletRoot); ok && k.PodUID == uid {
			r.join(&t, Superblock{Device: e.Device, FSType: e.FSType, Root: e.Root, Mounted: e.MountPoint})
		}
	}
	t.Notes = []string{"no container of this pod is on the node: these are the mounts in its directories"}
	return t, len(t.Superblocks) > 0
}
