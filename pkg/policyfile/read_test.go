package policyfile

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/settings"
)

// configMap makes what the kubelet makes of a ConfigMap: links into a directory
// that is exchanged by renaming one link.
func configMap(t *testing.T, dir, version string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		write(t, filepath.Join(dir, ".."+version, name), text)
		first, _, _ := strings.Cut(name, "/")
		if _, err := os.Lstat(filepath.Join(dir, first)); err != nil {
			must(t, os.Symlink("..data/"+first, filepath.Join(dir, first)))
		}
	}
	must(t, os.Symlink(".."+version, filepath.Join(dir, "..data_tmp")))
	must(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
}

func TestWhichFilesAreRead(t *testing.T) {
	for _, test := range []struct {
		name    string
		prepare func(t *testing.T, s settings.Settings, drop func(name, text string))
		want    []string // texts, the main file's first
		wantErr string
	}{
		{
			name:    "the main file alone",
			prepare: func(*testing.T, settings.Settings, func(string, string)) {},
			want:    []string{"main"},
		},
		{
			name: "drop-ins in the order of their names byte by byte",
			prepare: func(_ *testing.T, _ settings.Settings, drop func(string, string)) {
				for _, name := range []string{"b.toml", "10-x.toml", "9-x.toml", "a.toml", "B.toml", "ä.toml"} {
					drop(name, name)
				}
			},
			want: []string{"main", "10-x.toml", "9-x.toml", "B.toml", "a.toml", "b.toml", "ä.toml"},
		},
		{
			name: "no hidden files, editors' copies and other things",
			prepare: func(t *testing.T, s settings.Settings, drop func(string, string)) {
				for _, name := range []string{
					"a.toml~", ".a.toml.swp", "#a.toml#", ".hidden.toml", ".toml", "README", "a.toml.bak", "a.toml.dpkg-old", "a.toml.rpmsave", "a.TOML", "4913",
				} {
					drop(name, "x")
				}
				// What emacs locks a file with leads nowhere.
				must(t, os.Symlink("root@node.123:456", beside(s, "policy.d", ".#a.toml")))
				must(t, os.Mkdir(beside(s, "policy.d", "sub"), 0o755))
				drop("a.toml", "a")
			},
			want: []string{"main", "a"},
		},
		{
			name: "a ConfigMap for all",
			prepare: func(t *testing.T, s settings.Settings, _ func(string, string)) {
				must(t, os.Remove(s.Policy))
				configMap(t, beside(s), "1", map[string]string{"policy.toml": "m1", "policy.d/10.toml": "a1", "policy.d/20.toml": "b1"})
				configMap(t, beside(s), "2", map[string]string{"policy.toml": "m2", "policy.d/10.toml": "a2"})
			},
			want: []string{"m2", "a2"},
		},
		{
			name: "a ConfigMap for the drop-ins",
			prepare: func(t *testing.T, s settings.Settings, _ func(string, string)) {
				configMap(t, beside(s, "policy.d"), "1", map[string]string{"10.toml": "a1", "20.toml": "b1"})
			},
			want: []string{"main", "a1", "b1"},
		},
		{
			name: "a directory behind a link",
			prepare: func(t *testing.T, s settings.Settings, _ func(string, string)) {
				write(t, beside(s, "elsewhere", "x.toml"), "x")
				must(t, os.Symlink("elsewhere", beside(s, "policy.d")))
			},
			want: []string{"main", "x"},
		},
		{
			name:    "the directory is a file",
			prepare: func(t *testing.T, s settings.Settings, _ func(string, string)) { write(t, beside(s, "policy.d"), "x") },
			wantErr: "policy.d: not a directory",
		},
		{
			name: "the directory is a link that leads nowhere",
			prepare: func(t *testing.T, s settings.Settings, _ func(string, string)) {
				must(t, os.Symlink("nowhere", beside(s, "policy.d")))
			},
			wantErr: "policy.d: no such file or directory",
		},
		{
			name: "a drop-in that leads nowhere",
			prepare: func(t *testing.T, s settings.Settings, drop func(string, string)) {
				drop("a.toml", "a")
				must(t, os.Symlink("nowhere", beside(s, "policy.d", "b.toml")))
			},
			wantErr: "policy.d/b.toml: no such file or directory",
		},
		{
			name: "a drop-in that is a directory",
			prepare: func(t *testing.T, s settings.Settings, _ func(string, string)) {
				must(t, os.MkdirAll(beside(s, "policy.d", "a.toml"), 0o755))
			},
			wantErr: "policy.d/a.toml: not a regular file",
		},
		{
			name: "a drop-in that is switched off with a device",
			prepare: func(t *testing.T, s settings.Settings, _ func(string, string)) {
				must(t, os.Mkdir(beside(s, "policy.d"), 0o755))
				must(t, os.Symlink("/dev/null", beside(s, "policy.d", "a.toml")))
			},
			wantErr: "policy.d/a.toml: not a regular file",
		},
		{
			name:    "an empty drop-in",
			prepare: func(_ *testing.T, _ settings.Settings, drop func(string, string)) { drop("a.toml", "") },
			wantErr: "policy.d/a.toml: the file is empty",
		},
		{
			name:    "tests among the drop-ins",
			prepare: func(_ *testing.T, _ settings.Settings, drop func(string, string)) { drop("a_test.toml", "x") },
			wantErr: "a_test.toml is named as the tests of a policy are",
		},
		{
			name:    "a name that forges output",
			prepare: func(_ *testing.T, _ settings.Settings, drop func(string, string)) { drop("a\nb.toml", "x") },
			wantErr: `the file name "a\nb.toml" has a backslash, or what cannot be printed`,
		},
		{
			name:    "a name that is no text",
			prepare: func(_ *testing.T, _ settings.Settings, drop func(string, string)) { drop("a\xff.toml", "x") },
			wantErr: `the file name "a\xff.toml" has`,
		},
		{
			name: "as large together as they may be",
			prepare: func(_ *testing.T, _ settings.Settings, drop func(string, string)) {
				drop("a.toml", strings.Repeat("a", MaxSize-5))
				drop("b.toml", "b")
			},
			want: []string{"main", strings.Repeat("a", MaxSize-5), "b"},
		},
		{
			name: "too large together",
			prepare: func(_ *testing.T, _ settings.Settings, drop func(string, string)) {
				drop("a.toml", strings.Repeat("a", MaxSize-5))
				drop("b.toml", "bb")
			},
			wantErr: "policy.d/b.toml: the policy's files up to this one are larger than 1 MiB together",
		},
		{
			name: "a main file that is too large",
			prepare: func(t *testing.T, s settings.Settings, _ func(string, string)) {
				write(t, s.Policy, strings.Repeat("a", MaxSize+1))
			},
			wantErr: "larger than 1048576 bytes",
		},
		{
			name: "as many as there may be",
			prepare: func(_ *testing.T, _ settings.Settings, drop func(string, string)) {
				for i := range maxDropIns {
					drop(strconv.Itoa(1000+i)+".toml", "x")
				}
			},
			want: append([]string{"main"}, slices.Repeat([]string{"x"}, maxDropIns)...),
		},
		{
			name: "too many",
			prepare: func(_ *testing.T, _ settings.Settings, drop func(string, string)) {
				for i := range maxDropIns + 1 {
					drop(strconv.Itoa(i)+".toml", "x")
				}
			},
			wantErr: "more than 1000 drop-ins",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := node(t)
			write(t, s.Policy, "main")
			test.prepare(t, s, func(name, text string) { write(t, beside(s, "policy.d", name), text) })
			set, err := Read(s.Policy)
			wantError(t, err, test.wantErr)
			var got []string
			if err == nil {
				got = append(got, string(set.Main.Data))
			}
			for _, f := range set.DropIns {
				got = append(got, string(f.Data))
				if filepath.Dir(f.Name) != beside(s, "policy.d") {
					t.Errorf("a drop-in is named %s", f.Name)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadingNeverWaits(t *testing.T) {
	for _, name := range []string{"policy.toml", "policy.d", "policy.d/a.toml"} {
		s := node(t)
		write(t, s.Policy, "main")
		must(t, os.MkdirAll(beside(s, "policy.d"), 0o755))
		must(t, os.Remove(beside(s, "policy.d")))
		must(t, os.RemoveAll(beside(s, name)))
		must(t, os.MkdirAll(filepath.Dir(beside(s, name)), 0o755))
		must(t, syscall.Mkfifo(beside(s, name), 0o600))
		done := make(chan error, 1)
		go func() { _, err := Read(s.Policy); done <- err }()
		select {
		case err := <-done:
			wantError(t, err, "not a ")
		case <-time.After(30 * time.Second):
			t.Fatalf("%s: hangs", name)
		}
	}
}

// While a ConfigMap is exchanged again and again, what is read is of one
// version, or it is said that it changes.
func TestNoMixtureOfTwoVersions(t *testing.T) {
	s := node(t)
	version := func(n int) map[string]string {
		text := strconv.Itoa(n)
		return map[string]string{"policy.toml": text, "policy.d/10.toml": text, "policy.d/20.toml": text}
	}
	configMap(t, beside(s), "0", version(0))
	over := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := 1; ; n++ {
			select {
			case <-over:
				return
			default:
				configMap(t, beside(s), strconv.Itoa(n), version(n))
				time.Sleep(time.Millisecond)
			}
		}
	})
	good := 0
	for range 200 {
		set, err := Read(s.Policy)
		if err != nil {
			wantError(t, err, "change while they are read")
			continue
		}
		good++
		for _, f := range set.DropIns {
			if len(set.DropIns) != 2 || string(f.Data) != string(set.Main.Data) {
				t.Fatalf("a mixture: main %s, %s %s", set.Main.Data, f.Name, f.Data)
			}
		}
	}
	close(over)
	writer.Wait()
	if good == 0 {
		t.Error("never read while it changes")
	}
	if set, err := Read(s.Policy); err != nil || len(set.DropIns) != 2 {
		t.Errorf("afterwards: %+v, %v", set, err)
	}
}

// TestTwoPassesMustAgree: whatever was read before them, and nothing is read where
// none do.
func TestTwoPassesMustAgree(t *testing.T) {
	gone := errors.New("gone")
	for _, test := range []struct {
		name, passes, want string // a pass a letter; an x cannot read
		wantErr            error
	}{
		{name: "at once", passes: "aa", want: "a"},
		{name: "after a change", passes: "abb", want: "b"},
		{name: "at the last", passes: "abcdd", want: "d"},
		{name: "not with one before", passes: "abaa", want: "a"},
		{name: "never", passes: "ababa", wantErr: ErrChanging},
		{name: "an error, and then a file", passes: "xaa", want: "a"},
		{name: "the same error", passes: "axx", wantErr: gone},
		{name: "an error now and then", passes: "axaxa", wantErr: ErrChanging},
	} {
		t.Run(test.name, func(t *testing.T) {
			left := test.passes
			got, err := agreed(func() (Set, error) {
				next := left[:1]
				left = left[1:]
				if next == "x" {
					return Set{}, gone
				}
				return one("p", next, OriginFile), nil
			})
			if !errors.Is(err, test.wantErr) || string(got.Main.Data) != test.want || left != "" {
				t.Errorf("%q, %v, %d passes left; want %q, %v", got.Main.Data, err, len(left), test.want, test.wantErr)
			}
		})
	}
}

// TestAFaultOfOursIsAnErrorOfThePolicy and not the end of the daemon.
func TestAFaultOfOursIsAnErrorOfThePolicy(t *testing.T) {
	p, err := one("/etc/p", "x", OriginFile).parse(func(policy.File, ...policy.File) (*policy.Policy, error) { panic("index out of range") })
	wantError(t, err, "read policy /etc/p: a fault in mountward itself, please report it: index out of range")
	if p != nil {
		t.Errorf("%+v", p)
	}
}

// TestWhatCannotBeReadIsNoPolicy: neither as the configured nor as a named one.
func TestWhatCannotBeReadIsNoPolicy(t *testing.T) {
	s := node(t)
	for name, load := range map[string]func() (*policy.Policy, Set, error){
		"configured": func() (*policy.Policy, Set, error) { return Load(s, nil) },
		"named":      func() (*policy.Policy, Set, error) { return LoadWith(s.Policy, nil) },
		"more":       func() (*policy.Policy, Set, error) { return LoadWith(s.Policy, []string{"x.toml"}) },
	} {
		p, _, err := load()
		wantError(t, err, "no such file")
		if p != nil {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// What the daemon loads and what check accepts is read by these two.
func TestLoadIsReadAndParse(t *testing.T) {
	s := node(t)
	write(t, s.Policy, "version = 1\nmode = \"audit\"\ndefault = \"allow\"\n")
	write(t, beside(s, "policy.d", "a.toml"), "[[rule]]\nname = \"a\"\nmatch = {}\naction = \"deny\"\n")
	p, set, err := Load(s, nil)
	q, again, fileErr := LoadWith(s.Policy, nil)
	if err != nil || fileErr != nil {
		t.Fatal(err, fileErr)
	}
	if p.SHA256 != set.SHA256() || p.SHA256 != q.SHA256 || len(p.Rules) != 1 || p.Rules[0].Position != beside(s, "policy.d", "a.toml")+":1" {
		t.Errorf("%+v", p)
	}
	if diff := cmp.Diff(set, again); diff != "" {
		t.Error(diff)
	}
	write(t, beside(s, "policy.d", "a.toml"), "x = 1\n")
	for _, load := range []func() (*policy.Policy, Set, error){
		func() (*policy.Policy, Set, error) { return Load(s, nil) },
		func() (*policy.Policy, Set, error) { return LoadWith(s.Policy, nil) },
	} {
		p, set, err := load()
		wantError(t, err, beside(s, "policy.d", "a.toml")+":1:1: unknown key")
		if p != nil || len(set.DropIns) != 1 {
			t.Errorf("%v, %+v", p, set)
		}
	}
}
