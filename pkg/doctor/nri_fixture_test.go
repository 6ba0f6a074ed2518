package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

// nriFile is a file of a fake node. The zero value is an empty file of root,
// mode 0644.
type nriFile struct {
	text string
	mode fs.FileMode // 0: 0644, or 0755 of a directory
	uid  uint32
	link string // what it links to
	dir  bool
	err  string // why it cannot be read
}

// nriFiles is a fake node's files by path. Directories above them are there.
type nriFiles map[string]nriFile

func (f nriFiles) find(p string) (string, nriFile, error) {
	for range 8 {
		one, ok := f[p]
		if !ok {
			if slices.ContainsFunc(slices.Collect(maps.Keys(f)), func(other string) bool { return strings.HasPrefix(other, p+"/") }) {
				return p, nriFile{dir: true}, nil
			}
			return "", one, &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
		}
		if one.link == "" {
			return p, one, nil
		}
		p = one.link
	}
	return "", nriFile{}, syscall.ELOOP
}

func (f nriFiles) Canonical(_ context.Context, p string) (string, error) {
	p, _, err := f.find(p)
	return p, err
}

func (f nriFiles) ReadFile(_ context.Context, p string, _ int) ([]byte, error) {
	_, one, err := f.find(p)
	switch {
	case err != nil:
		return nil, err
	case one.err != "":
		return nil, fmt.Errorf("%s: %s", p, one.err)
	case one.dir:
		return nil, fmt.Errorf("%s: not a regular file", p)
	}
	return []byte(one.text), nil
}

func (f nriFiles) ReadDir(_ context.Context, dir string, _ int) ([]string, error) {
	at, one, err := f.find(dir)
	switch {
	case err != nil:
		return nil, err
	case one.err != "":
		return nil, fmt.Errorf("%s: %s", dir, one.err)
	case !one.dir:
		return nil, &fs.PathError{Op: "readdir", Path: dir, Err: syscall.ENOTDIR}
	}
	var names []string
	for p := range f {
		rest, ok := strings.CutPrefix(p, at+"/")
		if name, _, _ := strings.Cut(rest, "/"); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// nriModes is nriFiles that tell modes too.
type nriModes struct{ nriFiles }

func (f nriModes) Stat(_ context.Context, p string) (fs.FileInfo, error) {
	at, one, err := f.find(p)
	if err != nil {
		return nil, err
	}
	return fakeInfo{path.Base(at), one}, nil
}

type fakeInfo struct {
	name string
	nriFile
}

func (i fakeInfo) Name() string       { return i.name }
func (i fakeInfo) Size() int64        { return int64(len(i.text)) }
func (i fakeInfo) ModTime() time.Time { return time.Time{} }
func (i fakeInfo) IsDir() bool        { return i.dir }
func (i fakeInfo) Sys() any           { return &syscall.Stat_t{Uid: i.uid} }
func (i fakeInfo) Mode() fs.FileMode {
	switch {
	case i.dir:
		return fs.ModeDir | max(i.mode, 0o755)
	case i.mode == 0:
		return 0o644
	default:
		return i.mode
	}
}

// nriNode is a fake node: its files, and what /proc says.
type nriNode struct {
	files   nriFiles
	version string // of containerd
	procs   []namespaces.Process
	cmdline map[int]string // "mountward run"
	sockets []string       // lines of /proc/812/net/unix
	proc    map[string]string
	blind   bool // no modes of files
	stopped bool // no containerd runs
}

const (
	listens   = "ffff9fcf43a3c000: 00000002 00000000 00010000 0001 01 23456 /var/run/nri/nri.sock"
	connected = "ffff9fcf43a3c400: 00000003 00000000 00000000 0001 03 23457 /var/run/nri/nri.sock"
)

func (n nriNode) snapshot(t *testing.T) *Snapshot {
	t.Helper()
	s := &Snapshot{Context: t.Context(), Proc: t.TempDir(), Files: nriModes{n.files}, Census: &namespaces.Census{Processes: n.procs}}
	if n.blind {
		s.Files = n.files
	}
	if s.Runtime.Version = n.version; n.version != "" {
		s.Runtime.VersionEvidence = "build information of /proc/812/exe"
	}
	if !n.stopped {
		s.Runtime.PID = 812
	}
	texts := map[string]string{"812/net/unix": "Num       RefCount Protocol Flags    Type St Inode Path\n" + strings.Join(n.sockets, "\n") + "\n"}
	maps.Copy(texts, n.proc)
	for pid, line := range n.cmdline {
		texts[fmt.Sprintf("%d/cmdline", pid)] = strings.ReplaceAll(line, " ", "\x00") + "\x00"
	}
	for name, text := range texts {
		file := filepath.Join(s.Proc, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// codes returns the findings as "no code subject", and wants of each what every
// finding must have.
func codes(t *testing.T, all []Finding) []string {
	t.Helper()
	got := []string{}
	for _, f := range all {
		got = append(got, f.Answer.String()+" "+f.Code+" "+f.Subject)
		if f.Message == "" || strings.Contains(f.Message, "\n") {
			t.Errorf("%s: the message is %q", f.Code, f.Message)
		}
		if f.Answer != facts.Unknown && len(f.Evidence) == 0 {
			t.Errorf("%s has no evidence: %s", f.Code, f.Message)
		}
		for _, e := range f.Evidence {
			if e.Text == "" || e.Show == "" {
				t.Errorf("%s: evidence %+v", f.Code, e)
			}
		}
		if f.Answer == facts.No && len(f.Fixes) == 0 {
			t.Errorf("%s has no fix", f.Code)
		}
	}
	return got
}
