package hosts_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/doctor"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

// host is the files of a node below a directory. Its symbolic links lead where
// they lead on the node, never out of the directory.
type host struct {
	root string
	view *hostview.View // ours, which reads specifications
}

var (
	_ doctor.Files       = (*host)(nil)
	_ namespaces.Bundles = (*host)(nil)
)

func ourView(t *testing.T) *hostview.View {
	t.Helper()
	view, err := hostview.Open(hostview.Options{Wait: time.Minute}) // the disk may be busy
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = view.Close() }) // nothing was written
	return view
}

// maxLinks is how many symbolic links the kernel follows.
const maxLinks = 40

// Canonical walks a path as the kernel does in a root directory.
func (h *host) Canonical(_ context.Context, name string) (string, error) {
	if !strings.HasPrefix(name, "/") {
		return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	here, rest := "/", strings.Split(name, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			here = path.Dir(here)
			continue
		}
		next := path.Join(here, part)
		info, err := os.Lstat(h.root + next)
		if err != nil {
			return "", &fs.PathError{Op: "open", Path: name, Err: errors.Unwrap(err)}
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			if !info.IsDir() && len(rest) > 0 {
				return "", &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
			}
			here = next
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "open", Path: name, Err: syscall.ELOOP}
		}
		target, err := os.Readlink(h.root + next)
		if err != nil {
			return "", err
		}
		if strings.HasPrefix(target, "/") {
			here = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return here, nil
}

func (h *host) ReadFile(ctx context.Context, name string, limit int) ([]byte, error) {
	at, err := h.Canonical(ctx, name)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(h.root + at)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err == nil && len(text) > limit {
		err = fmt.Errorf("read %s: larger than %d bytes", name, limit)
	}
	return text, err
}

func (h *host) ReadDir(ctx context.Context, name string, limit int) ([]string, error) {
	at, err := h.Canonical(ctx, name)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(h.root + at)
	if err == nil && len(entries) > limit {
		err = fmt.Errorf("read %s: more than %d names", name, limit)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, err
}

const bundles = "io.containerd.runtime.v2.task"

func (h *host) Bundles(ctx context.Context, state string) ([]hostview.Bundle, error) {
	dir, err := h.Canonical(ctx, path.Join(state, bundles))
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(h.root + dir + "/*/*/config.json")
	var all []hostview.Bundle
	for _, f := range files {
		all = append(all, hostview.Bundle{Dir: strings.TrimPrefix(path.Dir(f), h.root), Found: "state directory " + state})
	}
	return all, err
}

func (h *host) Spec(ctx context.Context, b hostview.Bundle) (hostview.Spec, error) {
	return h.view.Spec(ctx, hostview.Bundle{Dir: h.root + b.Dir, Found: b.Found})
}

func (h *host) InitPID(ctx context.Context, b hostview.Bundle) (int, error) {
	text, err := h.ReadFile(ctx, path.Join(b.Dir, "init.pid"), 64)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text)))
}

// TestLinksStayInTheNode, whatever they point to.
func TestLinksStayInTheNode(t *testing.T) {
	root := t.TempDir()
	unpack(t, root, archive(`
-- links --
/var/lib/kubelet /mnt/kubelet
/var/run ../run
/out ../../../../../../etc/hostname
/loop /loop
/chain /var/lib/kubelet/pods
-- mnt/kubelet/pods/a --
in the node
-- run/x --
-- etc/hostname --
the node's
`))
	h := &host{root: root}
	for name, want := range map[string]string{
		"/":                     "/",
		"/var/lib/kubelet":      "/mnt/kubelet",
		"/var/lib/kubelet/pods": "/mnt/kubelet/pods",
		"/chain/a":              "/mnt/kubelet/pods/a",
		"/var/run/x":            "/run/x",
		"/var/lib/kubelet/..":   "/mnt",
		"/../..":                "/",
		"/out":                  "/etc/hostname",
		"/loop":                 "too many levels of symbolic links",
		"/none":                 "no such file or directory",
		"/run/x/y":              "not a directory",
		"run":                   "invalid argument",
	} {
		got, err := h.Canonical(t.Context(), name)
		if err != nil {
			got = errors.Unwrap(err).Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	text, err := h.ReadFile(t.Context(), "/out", 100)
	if diff := cmp.Diff("the node's\n", string(text)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := h.ReadFile(t.Context(), "/out", 3); err == nil {
		t.Error("a file larger than the limit was read")
	}
	if _, err := h.ReadDir(t.Context(), "/", 1); err == nil {
		t.Error("a directory larger than the limit was read")
	}
}
