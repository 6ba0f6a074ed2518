package doctor

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// mostDriverPaths bounds the directories of CSI drivers that are looked at.
const mostDriverPaths = 64

// require lists the paths that must be shared: the kubelet's root, its pods and
// plugins, the directories in which CSI drivers have something mounted, where
// that is on another mount than the plugins, and what the settings name.
func (g *gatherer) require() {
	root := g.s.Kubelet.Root
	plugins := path.Join(root, "plugins")
	g.s.Require = []string{root, path.Join(root, "pods"), plugins}
	g.s.Require = append(g.s.Require, g.driverPaths(root, plugins)...)
	g.s.Named = g.Host.RequireShared
	for _, p := range g.Host.RequireShared {
		if !slices.Contains(g.s.Require, p) {
			g.s.Require = append(g.s.Require, p)
		}
	}
}

func (g *gatherer) driverPaths(root, plugins string) []string {
	canonical := g.s.Kubelet.Canonical
	if canonical == "" {
		canonical = root
	}
	canonical = path.Join(canonical, "plugins")
	var found []string
	seen := map[string]bool{}
	for _, sp := range g.s.spaces() {
		t := sp[0].Table
		on, _ := t.Covering(canonical)
		for e := range t.All() {
			dir, ok := driverDir(e.MountPoint, canonical)
			if !ok || seen[dir] || len(seen) == mostDriverPaths {
				continue
			}
			if m, ok := t.Covering(dir); ok && m.ID != on.ID {
				seen[dir] = true
				found = append(found, path.Join(plugins, strings.TrimPrefix(dir, canonical)))
			}
		}
	}
	slices.Sort(found)
	return found
}

// driverDir returns the directory of the CSI driver that a mount point is
// below: <plugins>/kubernetes.io/csi/<driver> or <plugins>/<driver>.
func driverDir(mountPoint, plugins string) (string, bool) {
	rest, below := facts.Below(mountPoint, plugins)
	if !below || rest == "" {
		return "", false
	}
	depth := 1
	if strings.HasPrefix(rest, "kubernetes.io/csi/") {
		depth = 3
	}
	names := strings.Split(rest, "/")
	if len(names) <= depth { // the driver's directory itself is mounted: still its
		depth = len(names)
	}
	return path.Join(plugins, path.Join(names[:depth]...)), true
}

// resolve returns a path without symbolic links as a place sees it. What does
// not exist is resolved as far as it does: it would be made there.
func resolve(ctx context.Context, files Files, p string) (string, error) {
	rest := ""
	for at := p; ; at = path.Dir(at) {
		canonical, err := files.Canonical(ctx, at)
		switch {
		case err == nil:
			return path.Join(canonical, rest), nil
		case !errors.Is(err, fs.ErrNotExist) || at == "/":
			return "", err
		}
		rest = path.Join(path.Base(at), rest)
	}
}
