package hostview

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mountward/mountward/pkg/facts"
)

// Each fixture is a config.json and what is read in it.
func TestWhatASpecificationSays(t *testing.T) {
	files, err := filepath.Glob("testdata/spec/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	v := openView(t, Options{})
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b := bundle(t, string(archive.Files[0].Data))
			s, err := v.Spec(context.Background(), b)
			if err != nil {
				t.Fatal(err)
			}
			got := showSpec(s, b)
			if diff := cmp.Diff(string(archive.Files[1].Data), got); diff != "" {
				t.Error(diff)
			}
			if quick := v.Privilege(b); quick != s.Privileged {
				t.Errorf("privileged is %+v, and %+v by the short way", s.Privileged, quick)
			}
		})
	}
}

// bundle makes the bundle of the container "c1" in the namespace "k8s.io".
func bundle(t testing.TB, config string) Bundle {
	t.Helper()
	b := Bundle{Dir: mkdir(t, filepath.Join(t.TempDir(), runtimeV2, "k8s.io", "c1"))}
	if err := os.WriteFile(b.config(), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

func showSpec(s Spec, b Bundle) string {
	var text strings.Builder
	c := s.Container(b)
	fmt.Fprintf(&text, "container %s name %q image %q sandbox %t\n", c.ID, c.Name, c.Image, s.Sandbox())
	fmt.Fprintf(&text, "pod %q of namespace %q, name %q, uid %q\n", c.Pod.ID, c.Pod.Namespace, c.Pod.Name, c.Pod.UID)
	fmt.Fprintf(&text, "privileged %v: %s\n", c.Privileged.Truth, c.Privileged.Why)
	fmt.Fprintf(&text, "user namespace %t, rootfs propagation %q\n", c.UserNamespace, s.RootfsPropagation)
	for _, m := range c.Mounts {
		fmt.Fprintf(&text, "mount %s %s %s %s\n", m.Destination, m.Type, m.Source, strings.Join(m.Options, ","))
	}
	for _, d := range c.Devices {
		fmt.Fprintf(&text, "device %s %s %v\n", d.Path, d.Type, d.Number)
	}
	return text.String()
}

func TestASpecificationThatCannotBeReadIsCannotTell(t *testing.T) {
	v := openView(t, Options{})
	whole := bundle(t, privilegedSpec)
	for _, test := range []struct{ name, text, why string }{
		{"empty", "", "it is empty"},
		{"cut off", privilegedSpec[:len(privilegedSpec)/2], "unexpected end"},
		{"two of them", privilegedSpec + "{}", "after top-level value"},
		{"no object", "[]", "cannot unmarshal"},
		{"a wrong type", strings.Replace(privilegedSpec, `"rwm"`, "7", 1), "cannot unmarshal"},
		{"no text", "\x00\xff", "invalid character"},
		{"deep", strings.Repeat("[", 20_000), "exceeded max depth"},
	} {
		b := bundle(t, test.text)
		_, err := v.Spec(context.Background(), b)
		refused(t, test.name, err, test.why)
		if got := v.Privilege(b); got.Truth != facts.Unknown || !strings.Contains(got.Why, test.why) {
			t.Errorf("%s: privileged is %+v, want unknown", test.name, got)
		}
	}
	huge := bundle(t, "")
	if err := os.Truncate(huge.config(), maxSpec+1); err != nil {
		t.Fatal(err)
	}
	_, err := v.Spec(context.Background(), huge)
	refused(t, "huge", err, "larger than")
	if err := os.Remove(whole.config()); err != nil {
		t.Fatal(err)
	}
	_, err = v.Spec(context.Background(), whole)
	refused(t, "missing", err, "no such file")
}

// Whatever is read in whole is read the same by the short way, and holds
// nothing that is no number.
func FuzzSpec(f *testing.F) {
	files, err := filepath.Glob("testdata/spec/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	f.Add([]byte(privilegedSpec))
	f.Add([]byte(`{"linux":null,"process":null,"mounts":[{}],"annotations":{"a":null}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseSpec(text)
		if err != nil {
			return
		}
		quick, err := parsePrivilege(text)
		if err != nil || quick != s.Privileged {
			t.Errorf("privileged is %+v, and %+v (%v) by the short way", s.Privileged, quick, err)
		}
		c := s.Container(Bundle{Dir: "/x/k8s.io/id"})
		if c.ID != "id" || len(c.Mounts) != len(s.Mounts) || c.Privileged.Why == "" {
			t.Errorf("%+v of %+v", c, s)
		}
		for _, d := range s.Devices {
			if d.Type == "p" {
				t.Errorf("%+v is a FIFO", d)
			}
		}
	})
}
