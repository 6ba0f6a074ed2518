package hostview

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// maxBundles bounds the containers of one namespace of containerd, and the
// namespaces.
const maxBundles = 16 << 10

// Bundles returns the bundles of all containers below a state directory of
// containerd, of whatever namespace, ordered by namespace and id. A directory
// without a config.json is a container that is being made or removed: it is
// left out, as is a file that is no directory; one whose config.json leads
// nowhere is not. With an error the list is what could be read; one matching
// fs.ErrNotExist alone says that containerd keeps no bundles there.
func (v *View) Bundles(ctx context.Context, state string) ([]Bundle, error) {
	dir := path.Join(state, runtimeV2)
	namespaces, err := v.ReadDir(ctx, dir, maxBundles)
	if err != nil {
		return nil, err
	}
	var all []Bundle
	var errs []error
	for _, namespace := range namespaces {
		ids, err := v.ReadDir(ctx, path.Join(dir, namespace), maxBundles)
		errs = append(errs, unlessGone(err))
		for _, id := range ids {
			if strings.HasPrefix(id, ".") {
				continue // containerd hides a bundle before it removes it
			}
			b := Bundle{Dir: path.Join(dir, namespace, id), Found: "state directory " + state}
			ok, err := v.hasConfig(ctx, b)
			if ok {
				all = append(all, b)
			}
			errs = append(errs, unlessGone(err))
		}
	}
	return all, errors.Join(errs...)
}

// hasConfig reports a config.json, also one that is a symbolic link to nothing:
// that is a container of which nobody can tell more.
func (v *View) hasConfig(ctx context.Context, b Bundle) (bool, error) {
	err := v.exists(ctx, b.config())
	if !errors.Is(err, fs.ErrNotExist) {
		return err == nil, err
	}
	names, err := v.ReadDir(ctx, b.Dir, maxBundles)
	return slices.Contains(names, path.Base(b.config())), err
}

// unlessGone is no error for what is not there, or is a file where containerd
// makes directories only: somebody else's.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return err
}

// InitPID returns the number of the container's first process as the runtime
// wrote it down. It stays there when the process is gone, and the number can be
// another's then: prove it. An error matching fs.ErrNotExist says that the
// container has never had a process.
func (v *View) InitPID(ctx context.Context, b Bundle) (int, error) {
	file := path.Join(b.Dir, "init.pid")
	text, err := v.ReadFile(ctx, file, 64)
	if err != nil {
		return 0, err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 0 {
		return 0, cannotTell(file, fmt.Sprintf("%q is not the number of a process", text))
	}
	return pid, nil
}
