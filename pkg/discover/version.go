package discover

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/mountward/mountward/pkg/internal/wait"
)

// The modules of containerd: 1.x and 2.x.
const (
	containerdModule   = "github.com/containerd/containerd"
	containerdModuleV2 = containerdModule + "/v2"
)

// maxBuildInfo is how much of a binary is read, in bytes. It is in one place, by
// the headers: of containerd 2.4.2, which has 40 MB, 27 KB are read (measured).
const maxBuildInfo = 8 << 20

// version finds out which containerd a process runs, by what the Go linker wrote
// into its binary: nothing is executed. Distributions that build without modules
// and with -trimpath leave no more than the path of the package, and that tells
// 1.x from 2.x.
func (n Node) version(ctx context.Context, pid int) (version, evidence string) {
	if pid == 0 {
		return "", "no containerd was found that runs"
	}
	exe := fmt.Sprintf("%s/%d/exe", n.Proc, pid)
	info, err := wait.For(ctx, patience, func() (*debug.BuildInfo, error) { return buildInfo(exe) }, nil)
	if err != nil {
		return "", fmt.Sprintf("the build information of %s cannot be read: %v", exe, err)
	}
	version, what := containerdVersion(info)
	if version == "" {
		return "", fmt.Sprintf("the build information of %s names no containerd", exe)
	}
	return version, fmt.Sprintf("build information of %s: %s", exe, what)
}

// buildInfo reads a binary through the link that procfs has, which leads to it
// whatever is mounted or renamed since.
func buildInfo(exe string) (info *debug.BuildInfo, err error) {
	f, err := os.Open(exe)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	defer func() { // the reader of ELF files is not made for hostile ones
		if r := recover(); r != nil {
			info, err = nil, fmt.Errorf("%v", r)
		}
	}()
	return buildinfo.Read(&sparing{f, maxBuildInfo})
}

var errReadEnough = errors.New("more than that is not read")

// sparing reads no more than so many bytes in all.
type sparing struct {
	r    io.ReaderAt
	left int
}

// ReadAt reads at a place.
func (s *sparing) ReadAt(p []byte, at int64) (int, error) {
	if s.left -= len(p); s.left < 0 {
		return 0, errReadEnough
	}
	return s.r.ReadAt(p, at)
}

// containerdVersion reads what a binary was built from: what the build set at
// link time, else the version of the module, be it one that is built in, as in
// k3s, else no more than which of two modules it is.
func containerdVersion(info *debug.BuildInfo) (version, what string) {
	for _, module := range []string{containerdModuleV2, containerdModule} {
		of := moduleOf(info, module)
		main := info.Main.Path == module
		if of == nil && !main && info.Path != module+"/cmd/containerd" {
			continue
		}
		for _, setting := range info.Settings {
			if setting.Key != "-ldflags" {
				continue
			}
			if v, ok := linked(setting.Value, module+"/version.Version"); ok {
				return v, fmt.Sprintf("-X %s/version.Version=%s", module, v)
			}
		}
		if of != nil && tagged(of.Version) {
			return of.Version, fmt.Sprintf("module %s %s", of.Path, of.Version)
		}
		if module == containerdModuleV2 {
			return "2.x", "package " + info.Path
		}
		return "1.x", "package " + info.Path
	}
	return "", ""
}

// tagged reports a version that comes from a tag. "(devel)" does not, nor does
// "v2.0.0-20240902150405-0123456789ab" of a commit that no tag is before.
func tagged(version string) bool {
	untagged, _, _ := strings.Cut(version, "-2")
	return strings.HasPrefix(version, "v") && (untagged == version || !strings.HasSuffix(untagged, ".0.0"))
}

// moduleOf returns a module that is in a binary, or what takes its place.
func moduleOf(info *debug.BuildInfo, path string) *debug.Module {
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		switch {
		case m.Path != path:
		case m.Replace != nil && m.Replace.Version != "":
			return m.Replace
		default:
			return m
		}
	}
	return nil
}

// linked finds what -X sets a variable to among the flags of the linker.
func linked(flags, variable string) (value string, ok bool) {
	for _, word := range strings.FieldsFunc(flags, func(r rune) bool { return strings.ContainsRune(" \t\n'\"", r) }) {
		v, is := strings.CutPrefix(strings.TrimPrefix(word, "-X="), variable+"=")
		if is && v != "" && len(v) <= maxVersion && strings.IndexFunc(v, unusual) < 0 {
			value, ok = v, true // the last counts
		}
	}
	return value, ok
}

// maxVersion bounds the text of a version.
const maxVersion = 64

func unusual(r rune) bool { return r <= ' ' || r > '~' }
