// Package hosts_test is what doctor says of whole nodes: each file of testdata
// is one, as text. Most are a report that somebody published when mount
// propagation did not work; the rest are healthy.
//
// A node is a txtar archive. Its files are the node's, with these exceptions:
//
//	want.toml        what doctor must say, see want
//	processes        a table, see process: it becomes proc/PID/...
//	containers.toml  a list, see container: it becomes bundles of containerd
//	mountinfo/NAME   the mount table of the namespace NAME of the processes
//	container        the node is a container itself, see process
//	dirs             directories, a line each
//	links            symbolic links, a line each: PATH TARGET
//	before/...       an earlier state of the node, that it is compared with
//
// A line "@repeat N LINE" of a mount table is N lines, in which {n} is 0, 1 ...
// and {K+n} that number added to K.
//
// A layout that nobody captured says "synthetic" in the archive's comment.
package hosts_test

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mountward/mountward/pkg/doctor"
	"github.com/mountward/mountward/pkg/settings"
)

// TestHosts: of each node doctor says what is wrong, and nothing else.
func TestHosts(t *testing.T) {
	for _, file := range archives(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive := read(t, file)
			w := wantOf(t, archive)
			got := examine(t, archive.Files, w)
			if before := below(archive.Files, "before/"); len(before) > 0 {
				got = got.Since("before", baselineOf(t, examine(t, before, w)))
			}
			w.compare(t, got)
		})
	}
}

func archives(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatalf("no nodes: %v", err)
	}
	return all
}

func read(t *testing.T, file string) *txtar.Archive {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

// below returns the files of a directory of an archive.
func below(files []txtar.File, dir string) []txtar.File {
	var all []txtar.File
	for _, f := range files {
		if rest, ok := strings.CutPrefix(f.Name, dir); ok {
			all = append(all, txtar.File{Name: rest, Data: f.Data})
		}
	}
	return all
}

// examine does what the command line does, on a node of text.
func examine(t *testing.T, files []txtar.File, w want) doctor.Document {
	t.Helper()
	root := t.TempDir()
	unpack(t, root, files)
	h := newHost(t, root)
	host := settings.Default().Host
	if w.KubeletRoot != "" {
		host.KubeletRoot = w.KubeletRoot
	}
	host.RequireShared = w.Require
	snapshot, err := doctor.Gather(t.Context(), doctor.Machine{
		Proc: filepath.Join(root, "proc"), Sys: filepath.Join(root, "sys"), Host: host,
		Open: func(pid int) (doctor.Files, io.Closer, error) {
			if slices.Contains(w.Closed, pid) {
				return nil, nil, &fs.PathError{Op: "open", Path: "root", Err: fs.ErrPermission}
			}
			return h, io.NopCloser(nil), nil
		},
		Now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := snapshot.Close(); err != nil {
			t.Error(err)
		}
	}()
	return doctor.Run(context.WithoutCancel(t.Context()), snapshot, doctor.Checks()).Document(snapshot)
}

// newHost is the files of a node below a directory.
func newHost(t *testing.T, root string) *host {
	t.Helper()
	for _, dir := range []string{"proc", "sys"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &host{root: root, view: ourView(t)}
}
