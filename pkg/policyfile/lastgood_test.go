package policyfile

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/settings"
)

func lastGood(t *testing.T, s settings.Settings, set Set) {
	t.Helper()
	must(t, SaveLastGood(s, set))
}

func TestTheLastGoodPolicyHoldsAllFiles(t *testing.T) {
	s := node(t)
	if p, ok, err := LastGood(s); ok || err != nil {
		t.Fatalf("before anything was kept: %+v, %v, %v", p, ok, err)
	}
	texts := []string{"version = 1\n", "", "no newline", "\xff\x00\r\n# sha256 x\n", "# from \"x\" 3\n# sha256 x\n"}
	name := "/etc/a\nb\xff\"/policy.toml"
	for i, data := range texts {
		in := one(name, data, OriginFile)
		for n := range i { // one more file each time
			in.DropIns = append(in.DropIns, policy.File{Name: "/etc/policy.d/ " + strconv.Itoa(n) + ".toml", Data: []byte(texts[n])})
		}
		lastGood(t, s, in)
		got, ok, err := LastGood(s)
		want := in
		want.Origin = OriginLastGood
		if diff := cmp.Diff(want, got, asText); !ok || err != nil || diff != "" {
			t.Errorf("%v, %v, -want +got\n%s", ok, err, diff)
		}
		if got.SHA256() != in.SHA256() || len(got.SHA256()) != 64 {
			t.Errorf("checksum %q", got.SHA256())
		}
	}
	for path, want := range map[string]os.FileMode{s.StateDir: 0o700, lastGoodPath(s): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v (%v), want %v", path, info.Mode().Perm(), err, want)
		}
	}
	entries, err := os.ReadDir(s.StateDir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v (%v)", entries, err)
	}
}

// A policy of one file is a policy text like any other below three comments.
func TestTheCopyOfOneFileIsAPolicy(t *testing.T) {
	s := node(t)
	lastGood(t, s, one("/etc/p.toml", "version = 1\n", OriginFile))
	got, err := os.ReadFile(lastGoodPath(s))
	want := lastGoodTitle + "\n# from \"/etc/p.toml\"\n# sha256 dbab12665d98aef021ba64953c61b0ed8a908cfb56a1c01e2fcb4b052b71a2a1\nversion = 1\n"
	if diff := cmp.Diff(want, string(got)); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
}

func TestOnlyAFileBecomesTheLastGoodPolicy(t *testing.T) {
	s := node(t)
	lastGood(t, s, one("f", "file", OriginFile))
	lastGood(t, s, one(BuiltInName, "built in", OriginBuiltIn))
	lastGood(t, s, one("g", "last good", OriginLastGood))
	if got, ok, err := LastGood(s); !ok || err != nil || string(got.Main.Data) != "file" {
		t.Errorf("%+v, %v, %v", got, ok, err)
	}
}

func TestADamagedLastGoodPolicyIsAnError(t *testing.T) {
	s := node(t)
	in := one("f", "version = 1\nmode = \"enforce\"\n", OriginFile)
	in.DropIns = []policy.File{{Name: "d/a", Data: []byte("# a\n")}, {Name: "d/b", Data: []byte("[hazards]\nMW101 = \"deny\"\n")}}
	for _, set := range []Set{one("f", "version = 1\nmode = \"enforce\"\n", OriginFile), in} {
		lastGood(t, s, set)
		damage(t, s, set)
	}
}

func damage(t *testing.T, s settings.Settings, set Set) {
	t.Helper()
	whole, err := os.ReadFile(lastGoodPath(s))
	if err != nil {
		t.Fatal(err)
	}
	texts := func(s Set) string {
		all := string(s.Main.Data)
		for _, f := range s.DropIns {
			all += "|" + string(f.Data)
		}
		return all
	}
	for i := range whole {
		flipped := bytes.Clone(whole)
		flipped[i] ^= 1
		// A name is a label: it alone may be damaged unseen.
		if got, err := parseLastGood(flipped); err == nil && texts(got) != texts(set) {
			t.Fatalf("%q: %+v", flipped, got)
		}
		if got, err := parseLastGood(whole[:i]); err == nil {
			t.Fatalf("cut after %d bytes: %+v, want an error", i, got)
		}
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-1] ^= 1
	for _, damaged := range [][]byte{nil, whole[:len(whole)/2], flipped} {
		write(t, lastGoodPath(s), string(damaged))
		_, ok, err := LastGood(s)
		wantError(t, err, "read last good policy "+lastGoodPath(s))
		if ok {
			t.Errorf("%q was taken", damaged)
		}
	}
}

func TestStateDirectoryOthersCanWriteIsRefused(t *testing.T) {
	s := node(t)
	lastGood(t, s, one("f", "x", OriginFile))
	if err := os.Chmod(s.StateDir, 0o770); err != nil {
		t.Fatal(err)
	}
	wantError(t, SaveLastGood(s, one("f", "y", OriginFile)), "chmod go-w")
	_, ok, err := LastGood(s)
	wantError(t, err, "chmod go-w")
	if ok {
		t.Error("a policy that others could have written was taken")
	}
	if info, _ := os.Stat(s.StateDir); info.Mode().Perm() != 0o770 {
		t.Errorf("mode changed to %v", info.Mode())
	}
	// Readable for others is their administrator's choice.
	if err := os.Chmod(s.StateDir, 0o755); err != nil {
		t.Fatal(err)
	}
	lastGood(t, s, one("f", "y", OriginFile))
}

func TestSaveLastGoodTellsWhatFailed(t *testing.T) {
	s := node(t)
	write(t, s.StateDir, "a file")
	err := SaveLastGood(s, one("f", "", OriginFile))
	wantError(t, err, "save last good policy "+lastGoodPath(s))
	_, ok, err := LastGood(s)
	wantError(t, err, "not a directory")
	if ok {
		t.Error("ok")
	}
}

// TestACopyThatCannotBeKeptIsAnError, leaves nothing behind, and leaves the one
// before as it was.
func TestACopyThatCannotBeKeptIsAnError(t *testing.T) {
	s := node(t)
	lastGood(t, s, one("f", "before", OriginFile))
	wantError(t, SaveLastGood(s, one(strings.Repeat("x", MaxSize+maxHeader), "", OriginFile)), "the names of its files are too long")
	if got, ok, err := LastGood(s); !ok || err != nil || string(got.Main.Data) != "before" {
		t.Errorf("%+v, %v, %v", got, ok, err)
	}
	must(t, os.Remove(lastGoodPath(s)))
	must(t, os.Mkdir(lastGoodPath(s), 0o700)) // nothing can be renamed onto it
	wantError(t, SaveLastGood(s, one("f", "x", OriginFile)), "save last good policy "+lastGoodPath(s))
	if entries, err := os.ReadDir(s.StateDir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v (%v)", entries, err)
	}
	_, ok, err := LastGood(s)
	wantError(t, err, "not a regular file")
	if ok {
		t.Error("a directory is no policy")
	}
}

// TestAStateDirectoryOfAnotherUserIsRefused: whoever owns it can write there,
// whatever its mode.
func TestAStateDirectoryOfAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	s := node(t)
	lastGood(t, s, one("f", "x", OriginFile))
	must(t, os.Chown(s.StateDir, 65534, 0))
	wantError(t, SaveLastGood(s, one("f", "y", OriginFile)), "belongs to user 65534")
	_, ok, err := LastGood(s)
	wantError(t, err, "belongs to user 65534")
	if ok {
		t.Error("a policy that another could have written was taken")
	}
}

// FuzzParseLastGood: what is taken for a copy has the checksum that it says, and
// is found again in a copy of it.
func FuzzParseLastGood(f *testing.F) {
	f.Add([]byte(lastGoodTitle + "\n# from \"/etc/p\"\n# sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n"))
	more := one("/etc/p", "a", OriginFile)
	more.DropIns = []policy.File{{Name: "/etc/policy.d/x", Data: []byte("b")}}
	f.Add(formatLastGood(more))
	f.Add([]byte("\n\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := parseLastGood(data)
		if err != nil {
			return
		}
		if !bytes.Contains(data, []byte("\n# sha256 "+set.SHA256()+"\n")) {
			t.Fatalf("%q was read as %+v", data, set)
		}
		again, err := parseLastGood(formatLastGood(set))
		if diff := cmp.Diff(set, again); err != nil || diff != "" {
			t.Fatalf("%v, %s", err, diff)
		}
	})
}
