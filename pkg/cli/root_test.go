package cli

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/settings"
)

// called is what one command line led to.
type called struct {
	code           int
	stdout, stderr string
	ran            *Config // what the daemon was started with; nil: it was not
}

func execute(t *testing.T, fails error, args ...string) called {
	t.Helper()
	var c called
	var stdout, stderr bytes.Buffer
	c.code = Execute(t.Context(), Program{
		Args: args, Stdout: &stdout, Stderr: &stderr, Version: "v9.9.9 go1.0",
		Run: func(ctx context.Context, config Config) error {
			if ctx == nil {
				t.Error("no context")
			}
			c.ran = &config
			return fails
		},
	})
	c.stdout, c.stderr = stdout.String(), stderr.String()
	return c
}

// TestRunHandsItsFlagsOver: a settings file that was asked for must exist, the
// default one need not.
func TestRunHandsItsFlagsOver(t *testing.T) {
	standard := Config{Path: settings.DefaultPath, Socket: DefaultSocket, Index: DefaultIndex}
	changed := func(change func(*Config)) *Config {
		c := standard
		change(&c)
		return &c
	}
	for _, test := range []struct {
		args []string
		want *Config
	}{
		{[]string{"run"}, &standard},
		{[]string{"run", "--config", "/x.toml"}, changed(func(c *Config) { c.Path, c.Explicit = "/x.toml", true })},
		{[]string{"run", "--config", settings.DefaultPath}, changed(func(c *Config) { c.Explicit = true })},
		{[]string{"run", "--socket=/s", "--index=07"}, changed(func(c *Config) { c.Socket, c.Index = "/s", "07" })},
	} {
		got := execute(t, nil, test.args...)
		if diff := cmp.Diff(called{ran: test.want}, got, cmp.AllowUnexported(called{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.args, diff)
		}
	}
}

// TestOnlyRunStartsTheDaemon: no other command line does, not even none.
func TestOnlyRunStartsTheDaemon(t *testing.T) {
	for _, args := range [][]string{nil, {"--help"}, {"version"}, {"--version"}, {"check", "/none"}, {"run", "--index", "5"}, {"run", "--socket="}, {"run", "--help"}, {"run", "now"}, {"bogus"}, {"help", "run"}, {"volumes", "--help"}, {"volumes", "--device", "x"}, {"verify"}, {"verify", "--help"}} {
		if got := execute(t, nil, args...); got.ran != nil {
			t.Errorf("%q started the daemon with %+v", args, *got.ran)
		}
	}
}

// TestExitCodes: an error of a verb is 1 and of the command line 64; both are
// told on standard error.
func TestExitCodes(t *testing.T) {
	failure := errors.New("serve NRI: connection refused")
	for _, test := range []struct {
		name   string
		fails  error
		args   []string
		code   int
		stderr string
	}{
		{"the daemon ends well", nil, []string{"run"}, ExitYes, ""},
		{"the daemon fails", failure, []string{"run"}, ExitNo, "mountward: error: serve NRI: connection refused\n"},
		{"an error that sounds like one of the command line", errors.New("lost: unknown command 7"), []string{"run"}, ExitNo, "mountward: error: lost: unknown command 7\n"},
		{"no such policy", nil, []string{"check", "/none/p.toml"}, ExitNo, "mountward: error: read policy /none/p.toml: no such file or directory\n"},
		{"no such verb", nil, []string{"bogus"}, ExitUsage, "hint: mountward --help"},
		{"no such flag", nil, []string{"run", "--bogus"}, ExitUsage, "hint: mountward --help"},
		{"too many arguments", nil, []string{"check", "a", "b"}, ExitUsage, "hint: mountward --help"},
		{"an index of one digit", nil, []string{"run", "--index", "5"}, ExitUsage, `mountward: error: --index "5": want two digits, such as "90"`},
		{"an index of three digits", nil, []string{"run", "--index", "900"}, ExitUsage, "two digits"},
		{"an index of letters", nil, []string{"run", "--index", "abc"}, ExitUsage, "two digits"},
		{"an index of two characters", nil, []string{"run", "--index", "9x"}, ExitUsage, "two digits"},
		{"no index", nil, []string{"run", "--index", ""}, ExitUsage, "two digits"},
		{"no socket", nil, []string{"run", "--socket", ""}, ExitUsage, `mountward: error: --socket "": want the path of containerd's NRI socket`},
		{"volumes: too many arguments", nil, []string{"volumes", "a", "b"}, ExitUsage, "accepts at most 1 arg"},
		{"volumes: no such format", nil, []string{"volumes", "-o", "a\nb"}, ExitUsage, `-o a\012b: want table, tree, json or mermaid`},
		{"volumes: no device number", nil, []string{"volumes", "--device", "dm-3"}, ExitUsage, `--device: parse device number "dm-3": want MAJ:MIN`},
		{"volumes: no VG", nil, []string{"volumes", "--lv", "data"}, ExitUsage, "--lv data: want VG/LV"},
		{"volumes: a device node for a volume", nil, []string{"volumes", "--lv", "/dev/vg0/data"}, ExitUsage, "--lv /dev/vg0/data: want VG/LV"},
		{"volumes: no such limits", nil, []string{"volumes", "--limits", "io.weight"}, ExitUsage, "--limits io.weight: want io.max"},
		{"volumes: limits in another format", nil, []string{"volumes", "--limits", "io.max", "-o", "json"}, ExitUsage, "not together with -o"},
		{"volumes: no such path", nil, []string{"volumes", "--path", "/none/such"}, ExitNo, "--path /none/such: no such file or directory"},
		{"verify: nothing named", nil, []string{"verify"}, ExitUsage, "name a container or pod, or give --all"},
		{"verify: a name and all", nil, []string{"verify", "a", "--all"}, ExitUsage, "a name or --all, not both"},
		{"verify: no such format", nil, []string{"verify", "a", "-o", "tree"}, ExitUsage, "-o tree: want table or json"},
		{"a verb that takes none", nil, []string{"version", "a"}, ExitUsage, "hint: mountward --help"},
	} {
		got := execute(t, test.fails, test.args...)
		if got.code != test.code || !strings.Contains(got.stderr, test.stderr) || test.stderr == "" && got.stderr != "" {
			t.Errorf("%s: exit code %d and %q, want %d and %q", test.name, got.code, got.stderr, test.code, test.stderr)
		}
		if got.stdout != "" {
			t.Errorf("%s: %q on standard output", test.name, got.stdout)
		}
	}
}

func TestVersion(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--version"}, {"-v"}} {
		if got := execute(t, nil, args...); got.stdout != "mountward v9.9.9 go1.0\n" || got.code != ExitYes || got.stderr != "" {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

// full takes so many bytes.
type full struct{ room int }

func (f *full) Write(b []byte) (int, error) {
	if f.room -= len(b); f.room < 0 {
		return 0, &fs.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.ENOSPC}
	}
	return len(b), nil
}

// TestAnAnswerThatIsNotWrittenIsNone, whatever it is: neither yes nor no.
func TestAnAnswerThatIsNotWrittenIsNone(t *testing.T) {
	const said = "mountward: error: write the answer: no space left on device; what was printed is not all\n"
	for _, test := range []struct {
		args string
		room int
		code int
		said string
	}{
		{"version", 1000, ExitYes, ""},
		{"version", 0, ExitCannotTell, said},
		{"--version", 0, ExitCannotTell, said},
		{"--help", 100, ExitCannotTell, said},
		{"explain", 100, ExitCannotTell, said},
		{"explain MW101", 100, ExitCannotTell, said},
		{"check ../../config/policy.toml", 1 << 20, ExitYes, ""},
		{"check ../../config/policy.toml", 0, ExitCannotTell, said},
		{"test ../../config", 0, ExitCannotTell, said},
	} {
		var stderr strings.Builder
		code := Execute(t.Context(), Program{Args: strings.Fields(test.args), Stdout: &full{test.room}, Stderr: &stderr, Version: "v9"})
		if code != test.code || stderr.String() != test.said {
			t.Errorf("%s, room for %d: exit code %d, want %d; %q", test.args, test.room, code, test.code, stderr.String())
		}
	}
}
