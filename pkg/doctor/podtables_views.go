package doctor

import (
	"cmp"
	"path"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// view is a mount of a container, and the part of the host's kubelet root that
// the container sees through it: none where host is "".
type view struct {
	destination  string
	host, inside string
}

// views are the mounts of a container, those that lie deepest first, and of
// those at one place the last, which covers the others.
type views []view

// views are all that the container's specification has. What is not of the
// kubelet root covers a part of what is.
func (p pairing) views(inside *hostview.Table) views {
	var all views
	root := p.kubeletRoot()
	for _, m := range slices.Backward(p.Spec.Mounts) {
		source, destination := m.Source, m.CleanDestination()
		if !m.Bind() {
			all = append(all, view{destination: destination})
			continue
		}
		if files := p.space.first().Files; files != nil {
			if canonical, err := resolve(p.Context, files, source); err == nil {
				source = canonical
			}
		}
		destination = p.lies(inside, source, destination)
		v := view{destination: destination}
		if rest, ok := facts.Below(root, source); ok {
			v.host, v.inside = root, path.Join(destination, rest)
		} else if facts.Within(source, root) {
			v.host, v.inside = source, destination
		}
		all = append(all, v)
	}
	slices.SortStableFunc(all, func(a, b view) int { return cmp.Compare(len(b.destination), len(a.destination)) })
	return all
}

// lies returns where a bind is in the container: at its destination, or, where a
// part of that is a symbolic link in the container, at the one place that shows
// the same.
func (p pairing) lies(inside *hostview.Table, source, destination string) string {
	if _, ok := inside.At(destination); ok {
		return destination
	}
	on, ok := p.space.first().Table.Covering(source)
	if !ok {
		return destination
	}
	rest, _ := facts.Below(source, on.MountPoint)
	is := facts.Identity{Device: on.Device, Root: facts.JoinRoot(on.Root, rest)}
	if same := inside.ByIdentity(is); len(same) == 1 {
		return same[0].MountPoint
	}
	return destination
}

// shows returns the place of the host that a place of the container shows, if it
// is the view by which it does.
func (all views) shows(v view, in string) (place string, ok bool) {
	i := slices.IndexFunc(all, func(other view) bool { return facts.Within(in, other.destination) })
	if i < 0 || all[i] != v || v.host == "" {
		return "", false
	}
	rest, ok := facts.Below(in, v.inside)
	if !ok || rest == "" {
		return "", false // the mount of the container itself
	}
	return facts.JoinRoot(v.host, rest), true
}

// ofKubelet reports whether any shows a part of the kubelet root.
func (all views) ofKubelet() bool {
	return slices.ContainsFunc(all, func(v view) bool { return v.host != "" })
}
