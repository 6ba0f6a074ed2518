package settings

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func node(t *testing.T) Settings {
	t.Helper()
	dir := t.TempDir()
	s := Default()
	s.Policy = filepath.Join(dir, "etc", "policy.toml")
	s.StateDir = filepath.Join(dir, "state")
	return s
}

func lastGood(t *testing.T, s Settings, p PolicyFile) {
	t.Helper()
	if err := s.SaveLastGood(p); err != nil {
		t.Fatal(err)
	}
}

func TestReadPolicy(t *testing.T) {
	builtin := []byte("built in")
	for _, test := range []struct {
		name      string
		prepare   func(t *testing.T, s *Settings)
		explicit  bool
		noBuiltin bool
		want      PolicyFile // Name "" is the policy's path
		wantErr   string
	}{
		{
			name:    "a file",
			prepare: func(t *testing.T, s *Settings) { write(t, s.Policy, "rules") },
			want:    PolicyFile{Data: []byte("rules"), Origin: OriginFile},
		},
		{
			name: "a file behind links, as in a ConfigMap",
			prepare: func(t *testing.T, s *Settings) {
				write(t, filepath.Join(filepath.Dir(s.Policy), "..1", "policy.toml"), "rules")
				must(t, os.Symlink("..1", filepath.Join(filepath.Dir(s.Policy), "..data")))
				must(t, os.Symlink("..data/policy.toml", s.Policy))
			},
			want: PolicyFile{Data: []byte("rules"), Origin: OriginFile},
		},
		{
			name:    "an empty file is a file",
			prepare: func(t *testing.T, s *Settings) { write(t, s.Policy, "") },
			want:    PolicyFile{Data: []byte{}, Origin: OriginFile},
		},
		{
			name:    "nothing at the default path",
			prepare: func(*testing.T, *Settings) {},
			want:    PolicyFile{Name: BuiltInName, Data: builtin, Origin: OriginBuiltIn},
		},
		{
			name: "the built-in one was in force before",
			prepare: func(t *testing.T, s *Settings) {
				lastGood(t, *s, PolicyFile{Name: BuiltInName, Data: builtin, Origin: OriginBuiltIn})
			},
			want: PolicyFile{Name: BuiltInName, Data: builtin, Origin: OriginBuiltIn},
		},
		{
			name:     "nothing at a path that was set",
			prepare:  func(*testing.T, *Settings) {},
			explicit: true,
			wantErr:  "no such file or directory; the settings name this file",
		},
		{
			name: "the default file was loaded once and is gone",
			prepare: func(t *testing.T, s *Settings) {
				lastGood(t, *s, PolicyFile{Name: "/etc/x.toml", Data: []byte("rules"), Origin: OriginFile})
			},
			wantErr: "but a policy from /etc/x.toml was in force before",
		},
		{
			name:      "gone while in force, never kept",
			prepare:   func(*testing.T, *Settings) {},
			noBuiltin: true,
			wantErr:   "but a policy file is in force",
		},
		{
			name:    "whether it was loaded cannot be told",
			prepare: func(t *testing.T, s *Settings) { write(t, s.lastGoodPath(), "damaged") },
			wantErr: "cannot be told",
		},
		{
			name:    "the state directory cannot be read",
			prepare: func(t *testing.T, s *Settings) { write(t, s.StateDir, "a file") },
			wantErr: "cannot be told",
		},
		{
			name: "a link that leads nowhere",
			prepare: func(t *testing.T, s *Settings) {
				must(t, os.MkdirAll(filepath.Dir(s.Policy), 0o755))
				must(t, os.Symlink("nowhere", s.Policy))
			},
			wantErr: "no such file",
		},
		{
			name:    "a directory",
			prepare: func(t *testing.T, s *Settings) { must(t, os.MkdirAll(s.Policy, 0o755)) },
			wantErr: "not a regular file",
		},
		{
			name:    "too large",
			prepare: func(t *testing.T, s *Settings) { write(t, s.Policy, string(make([]byte, 1<<20+1))) },
			wantErr: "larger than 1048576 bytes",
		},
		{
			name:    "as large as it may be",
			prepare: func(t *testing.T, s *Settings) { write(t, s.Policy, string(make([]byte, 1<<20))) },
			want:    PolicyFile{Data: make([]byte, 1<<20), Origin: OriginFile},
		},
		{
			name: "policy.d with rules",
			prepare: func(t *testing.T, s *Settings) {
				write(t, s.Policy, "rules")
				write(t, filepath.Join(filepath.Dir(s.Policy), "policy.d", "10-x.toml"), "")
			},
			wantErr: "policy.d is not read yet: move the rules of ",
		},
		{
			name: "policy.d with rules and no policy",
			prepare: func(t *testing.T, s *Settings) {
				write(t, filepath.Join(filepath.Dir(s.Policy), "policy.d", "10-x.toml"), "")
			},
			wantErr: "policy.d is not read yet",
		},
		{
			name: "policy.d without rules",
			prepare: func(t *testing.T, s *Settings) {
				write(t, s.Policy, "rules")
				write(t, filepath.Join(filepath.Dir(s.Policy), "policy.d", "README"), "")
			},
			want: PolicyFile{Data: []byte("rules"), Origin: OriginFile},
		},
		{
			name: "policy.d that cannot be read",
			prepare: func(t *testing.T, s *Settings) {
				write(t, s.Policy, "rules")
				write(t, filepath.Join(filepath.Dir(s.Policy), "policy.d"), "a file")
			},
			wantErr: "not a directory",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := node(t)
			test.prepare(t, &s)
			offered := builtin
			if test.noBuiltin {
				offered = nil
			}
			got, err := s.readPolicy(offered, !test.explicit)
			wantError(t, err, test.wantErr)
			if test.want.Name == "" && test.wantErr == "" {
				test.want.Name = s.Policy
			}
			asText := cmp.Transformer("text", func(data []byte) string { return string(data) })
			if diff := cmp.Diff(test.want, got, asText); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestAPolicyPathThatWasSetIsNeverBuiltIn(t *testing.T) {
	s := node(t)
	if got, err := s.ReadPolicy([]byte("built in")); err == nil {
		t.Errorf("%s is not the default path, got %+v", s.Policy, got)
	}
}

func TestLastGood(t *testing.T) {
	s := node(t)
	if p, ok, err := s.LastGood(); ok || err != nil {
		t.Fatalf("before anything was kept: %+v, %v, %v", p, ok, err)
	}
	for _, data := range [][]byte{[]byte("version = 1\n"), {}, []byte("no newline"), []byte("\xff\x00\r\n# sha256 x\n")} {
		name := "/etc/a\nb\xff\"/policy.toml"
		in := PolicyFile{Name: name, Data: data, Origin: OriginFile}
		lastGood(t, s, in)
		got, ok, err := s.LastGood()
		want := PolicyFile{Name: name, Data: data, Origin: OriginLastGood}
		if diff := cmp.Diff(want, got); !ok || err != nil || diff != "" {
			t.Errorf("%v, %v, -want +got\n%s", ok, err, diff)
		}
		if got.SHA256() != in.SHA256() || len(got.SHA256()) != 64 {
			t.Errorf("checksum %q", got.SHA256())
		}
	}
	for path, want := range map[string]os.FileMode{s.StateDir: 0o700, s.lastGoodPath(): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v (%v), want %v", path, info.Mode().Perm(), err, want)
		}
	}
	entries, err := os.ReadDir(s.StateDir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v (%v)", entries, err)
	}
}

func TestOnlyAFileBecomesTheLastGoodPolicy(t *testing.T) {
	s := node(t)
	lastGood(t, s, PolicyFile{Name: "f", Data: []byte("file"), Origin: OriginFile})
	lastGood(t, s, PolicyFile{Name: BuiltInName, Data: []byte("built in"), Origin: OriginBuiltIn})
	lastGood(t, s, PolicyFile{Name: "g", Data: []byte("last good"), Origin: OriginLastGood})
	if got, ok, err := s.LastGood(); !ok || err != nil || string(got.Data) != "file" {
		t.Errorf("%+v, %v, %v", got, ok, err)
	}
}

func TestADamagedLastGoodPolicyIsAnError(t *testing.T) {
	s := node(t)
	lastGood(t, s, PolicyFile{Name: "f", Data: []byte("version = 1\nmode = \"enforce\"\n"), Origin: OriginFile})
	whole, err := os.ReadFile(s.lastGoodPath())
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		flipped := bytes.Clone(whole)
		flipped[i] ^= 1
		for _, damaged := range [][]byte{whole[:i], flipped} {
			write(t, s.lastGoodPath(), string(damaged))
			got, ok, err := s.LastGood()
			// The name is a label: it alone may be damaged unseen.
			if err == nil && string(got.Data) != "version = 1\nmode = \"enforce\"\n" || (err != nil && ok) {
				t.Fatalf("%q: %+v, %v, %v", damaged, got, ok, err)
			}
			if err != nil {
				wantError(t, err, "read last good policy "+s.lastGoodPath())
			}
		}
		write(t, s.lastGoodPath(), string(whole[:i]))
		if _, _, err := s.LastGood(); err == nil {
			t.Fatalf("cut after %d bytes: want an error", i)
		}
	}
}

func TestStateDirectoryOthersCanWriteIsRefused(t *testing.T) {
	s := node(t)
	lastGood(t, s, PolicyFile{Name: "f", Data: []byte("x"), Origin: OriginFile})
	if err := os.Chmod(s.StateDir, 0o770); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.SaveLastGood(PolicyFile{Name: "f", Data: []byte("y"), Origin: OriginFile}), "chmod go-w")
	_, ok, err := s.LastGood()
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
	lastGood(t, s, PolicyFile{Name: "f", Data: []byte("y"), Origin: OriginFile})
}

func TestSaveLastGoodTellsWhatFailed(t *testing.T) {
	s := node(t)
	write(t, s.StateDir, "a file")
	err := s.SaveLastGood(PolicyFile{Name: "f", Origin: OriginFile})
	wantError(t, err, "save last good policy "+s.lastGoodPath())
	_, ok, err := s.LastGood()
	wantError(t, err, "not a directory")
	if ok {
		t.Error("ok")
	}
}

func FuzzParseLastGood(f *testing.F) {
	f.Add([]byte(lastGoodTitle + "\n# from \"/etc/p\"\n# sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\n"))
	f.Add([]byte("\n\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parseLastGood(data)
		if err == nil && (!bytes.HasSuffix(data, p.Data) || !bytes.Contains(data, []byte("\n# sha256 "+p.SHA256()+"\n"))) {
			t.Fatalf("%q was read as %+v", data, p)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
