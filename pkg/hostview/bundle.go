package hostview

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"
)

// runtimeV2 is where containerd's runtime v2 keeps bundles, below its state
// directory: runtimeV2/NAMESPACE/ID. tasks are those of the Kubernetes
// namespace.
const (
	runtimeV2 = "io.containerd.runtime.v2.task"
	tasks     = runtimeV2 + "/k8s.io"
)

// Bundle is the directory in which the runtime keeps config.json and rootfs of
// one container.
type Bundle struct {
	Dir   string
	Found string // how it was found
}

// Rootfs returns where the runtime mounts the root filesystem.
func (b Bundle) Rootfs() string { return b.Dir + "/rootfs" }

// ID returns the id of the container.
func (b Bundle) ID() string { return path.Base(b.Dir) }

// Namespace returns the namespace of containerd that the container is in:
// "k8s.io" for those of Kubernetes.
func (b Bundle) Namespace() string { return path.Base(path.Dir(b.Dir)) }

func (b Bundle) config() string { return b.Dir + "/config.json" }

// FindBundle finds the bundle of a container of Kubernetes: below the runtime's state
// directory (state; "" where it is not known), beside the working directory of
// the shim, which is the parent of the container's process (pid; 0 where there
// is none; it needs the rights of PTRACE_MODE_READ), or by the mounted rootfs
// in the runtime's table. The error is a *CannotTell with all three reasons.
func (v *View) FindBundle(ctx context.Context, id string, pid int, state string) (Bundle, error) {
	if id == "" || id == "." || id == ".." || strings.Contains(id, "/") {
		return Bundle{}, cannotTell("bundle of "+strconv.Quote(id), "not a container id")
	}
	var reasons []error
	for _, find := range []func() (Bundle, error){
		func() (Bundle, error) { return v.bundleBelow(ctx, state, id) },
		func() (Bundle, error) { return v.bundleOfShim(ctx, pid, id) },
		func() (Bundle, error) { return v.bundleMounted(ctx, id) },
	} {
		b, err := find()
		if err == nil {
			return b, nil
		}
		reasons = append(reasons, err)
	}
	return Bundle{}, cannotTellErr("bundle of "+id, errors.Join(reasons...))
}

func (v *View) bundleBelow(ctx context.Context, state, id string) (Bundle, error) {
	if state == "" {
		return Bundle{}, errors.New("the runtime's state directory is not known")
	}
	b := Bundle{Dir: path.Join(state, tasks, id), Found: "state directory " + state}
	_, err := v.Lookup(ctx, b.Dir)
	return b, err
}

func (v *View) bundleOfShim(ctx context.Context, pid int, id string) (Bundle, error) {
	if pid == 0 {
		return Bundle{}, errors.New("the container has no process")
	}
	shim, err := parentOf(v.proc, pid)
	if err != nil {
		return Bundle{}, err
	}
	dir, err := os.Readlink(fmt.Sprintf("%s/%d/cwd", v.proc, shim))
	if err != nil {
		return Bundle{}, err
	}
	if path.Base(path.Dir(path.Dir(dir))) != runtimeV2 {
		return Bundle{}, fmt.Errorf("working directory %s of process %d is no bundle", dir, shim)
	}
	b := Bundle{Dir: path.Join(path.Dir(dir), id), Found: fmt.Sprintf("working directory of the shim, process %d", shim)}
	_, err = v.Lookup(ctx, b.Dir)
	return b, err
}

// bundleMounted takes the only visible mount that ends like a rootfs of the
// container; anybody who can mount can make a second one.
func (v *View) bundleMounted(ctx context.Context, id string) (Bundle, error) {
	suffix := "/" + tasks + "/" + id + "/rootfs"
	t, err := v.Table(ctx)
	if err != nil {
		return Bundle{}, err
	}
	var found []string
	for e := range t.All() {
		if !strings.HasSuffix(e.MountPoint, suffix) {
			continue
		}
		if top, ok := t.At(e.MountPoint); ok && top.ID == e.ID {
			found = append(found, e.MountPoint)
		}
	}
	if len(found) != 1 {
		return Bundle{}, fmt.Errorf("%d mounts of the runtime end in %s", len(found), suffix)
	}
	return Bundle{Dir: path.Dir(found[0]), Found: "mount table of the runtime"}, nil
}
