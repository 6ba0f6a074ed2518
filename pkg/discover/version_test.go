package discover

import (
	"context"
	"debug/buildinfo"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/runtimeconf"
)

func TestAContainerdIsKnownByHowItWasBuilt(t *testing.T) {
	const v2, v1 = containerdModuleV2, containerdModule
	flags := func(value string) []debug.BuildSetting { return []debug.BuildSetting{{Key: "-ldflags", Value: value}} }
	main := func(path, version string) debug.Module { return debug.Module{Path: path, Version: version} }
	for name, test := range map[string]struct {
		info    debug.BuildInfo
		want    string
		release runtimeconf.Release
	}{
		"from the module":      {debug.BuildInfo{Path: v2 + "/cmd/containerd", Main: main(v2, "v2.4.2")}, "v2.4.2", runtimeconf.Release{Major: 2, Minor: 4}},
		"a release's flags":    {debug.BuildInfo{Path: v2 + "/cmd/containerd", Main: main(v2, "(devel)"), Settings: flags(`-s -w -X ` + v2 + `/version.Version=v2.1.4 -X ` + v2 + `/version.Revision=abc`)}, "v2.1.4", runtimeconf.Release{Major: 2, Minor: 1}},
		"quoted flags":         {debug.BuildInfo{Main: main(v1, ""), Settings: flags(`-X "` + v1 + `/version.Version=1.7.24~ds1" -X=a.b=c`)}, "1.7.24~ds1", runtimeconf.Release{Major: 1, Minor: 7}},
		"flags win":            {debug.BuildInfo{Main: main(v1, "v1.7.0"), Settings: flags("-X " + v1 + "/version.Version=v1.7.9")}, "v1.7.9", runtimeconf.Release{Major: 1, Minor: 7}},
		"built in, as in k3s":  {debug.BuildInfo{Path: "github.com/k3s-io/k3s/cmd/server", Main: main("github.com/k3s-io/k3s", "(devel)"), Deps: []*debug.Module{{Path: v1, Version: "v1.7.1"}, {Path: v2, Version: "v2.0.0", Replace: &debug.Module{Path: "github.com/k3s-io/containerd/v2", Version: "v2.1.4-k3s1"}}}}, "v2.1.4-k3s1", runtimeconf.Release{Major: 2, Minor: 1}},
		"Debian, no modules":   {debug.BuildInfo{Path: v1 + "/cmd/containerd"}, "1.x", runtimeconf.Release{Major: 1, Minor: -1}},
		"no modules, 2.x":      {debug.BuildInfo{Path: v2 + "/cmd/containerd"}, "2.x", runtimeconf.Release{Major: 2, Minor: -1}},
		"a commit without tag": {debug.BuildInfo{Main: main(v2, "v2.0.0-20260102150405-0123456789ab")}, "2.x", runtimeconf.Release{Major: 2, Minor: -1}},
		"a commit after a tag": {debug.BuildInfo{Main: main(v2, "v2.3.1-0.20260102150405-0123456789ab")}, "v2.3.1-0.20260102150405-0123456789ab", runtimeconf.Release{Major: 2, Minor: 3}},
		"before a release":     {debug.BuildInfo{Main: main(v2, "v2.0.0-rc.1")}, "v2.0.0-rc.1", runtimeconf.Release{Major: 2, Minor: 0}},
		"its API alone":        {debug.BuildInfo{Path: "example.com/x", Main: main("example.com/x", "v1.0.0"), Deps: []*debug.Module{{Path: v1 + "/api", Version: "v1.9.0"}}}, "", runtimeconf.Release{}},
		"forged with escapes":  {debug.BuildInfo{Main: main(v2, "(devel)"), Settings: flags("-X " + v2 + "/version.Version=v2\x1b[2J.4")}, "2.x", runtimeconf.Release{Major: 2, Minor: -1}},
	} {
		got, what := containerdVersion(&test.info)
		if got != test.want || (what == "") != (test.want == "") || runtimeconf.ParseRelease(got) != test.release {
			t.Errorf("%s: %q by %q, want %q, which is %v", name, got, what, test.want, test.release)
		}
	}
}

// TestABinaryThatCannotBeReadIsSaidSo, and one that hangs is not waited for.
func TestABinaryThatCannotBeReadIsSaidSo(t *testing.T) {
	n := Node{Proc: t.TempDir()}
	exe := filepath.Join(n.Proc, "8", "exe")
	for name, test := range map[string]struct {
		make func()
		says string
	}{
		"it is gone": {func() {}, "no such file"},
		"no binary":  {func() { write(t, exe, "#!/bin/sh\n") }, "cannot be read"},
		"cut off":    {func() { write(t, exe, "\x7fELF\x02\x01\x01") }, "cannot be read"},
		"another program": {func() {
			if err := os.Symlink("/proc/self/exe", exe); err != nil {
				t.Fatal(err)
			}
		}, "names no containerd"},
		"it hangs": {func() { write(t, exe, ""); hang(t, exe) }, "no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			_ = os.Remove(exe) // of the one before
			if err := os.MkdirAll(filepath.Dir(exe), 0o755); err != nil {
				t.Fatal(err)
			}
			test.make()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			version, evidence := n.version(ctx, 8)
			if version != "" || !strings.Contains(evidence, test.says) || !strings.Contains(evidence, exe) {
				t.Errorf("%q by %q", version, evidence)
			}
		})
	}
	if version, evidence := n.version(t.Context(), 0); version != "" || !strings.Contains(evidence, "no containerd was found") {
		t.Errorf("%q by %q", version, evidence)
	}
}

// counting counts what is read.
type counting struct {
	io.ReaderAt
	bytes int
}

func (c *counting) ReadAt(p []byte, at int64) (int, error) {
	c.bytes += len(p)
	return c.ReaderAt.ReadAt(p, at)
}

// TestLittleOfABinaryIsRead, and no more than is allowed.
func TestLittleOfABinaryIsRead(t *testing.T) {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := &counting{ReaderAt: f}
	if _, err := buildinfo.Read(&sparing{c, maxBuildInfo}); err != nil || c.bytes > maxBuildInfo/8 {
		t.Errorf("%d bytes were read: %v", c.bytes, err)
	}
	t.Logf("%d bytes were read", c.bytes)
	c.bytes = 0
	if _, err := buildinfo.Read(&sparing{c, 100}); err == nil || c.bytes > 100 {
		t.Errorf("%d bytes were read: %v", c.bytes, err)
	}
}

// FuzzLinked: a version is one word of the flags.
func FuzzLinked(f *testing.F) {
	f.Add("-s -w -X a/version.Version=v1", "a/version.Version")
	f.Add(`"-X=a=b"`, "a")
	f.Fuzz(func(t *testing.T, flags, variable string) {
		v, ok := linked(flags, variable)
		if ok != (v != "") || len(v) > maxVersion || !strings.Contains(flags, v) || strings.IndexFunc(v, unusual) >= 0 {
			t.Errorf("%q of %q in %q", v, variable, flags)
		}
	})
}
