package hostview

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBundlesAreThoseOfEveryNamespace(t *testing.T) {
	state := t.TempDir()
	for _, id := range []string{"k8s.io/b", "k8s.io/a", "moby/c", "default/d"} {
		write(t, mkdir(t, filepath.Join(state, runtimeV2, id))+"/config.json", 0)
	}
	mkdir(t, filepath.Join(state, runtimeV2, "k8s.io", "just-being-made"))
	mkdir(t, filepath.Join(state, runtimeV2, "empty"))
	write(t, mkdir(t, filepath.Join(state, runtimeV2, "k8s.io", ".being-removed"))+"/config.json", 0)
	write(t, filepath.Join(state, runtimeV2, "stray"), 0)
	write(t, filepath.Join(state, runtimeV2, "k8s.io", "stray"), 0)
	if err := os.Symlink("nowhere", mkdir(t, filepath.Join(state, runtimeV2, "k8s.io", "dangling"))+"/config.json"); err != nil {
		t.Fatal(err)
	}
	v := openView(t, Options{})
	all, err := v.Bundles(context.Background(), state+"/")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range all {
		got = append(got, b.Namespace()+" "+b.ID())
		if !strings.HasPrefix(b.Dir, state+"/"+runtimeV2+"/") || b.Found != "state directory "+state+"/" {
			t.Errorf("%+v", b)
		}
	}
	if diff := cmp.Diff([]string{"default d", "k8s.io a", "k8s.io b", "k8s.io dangling", "moby c"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestBundlesThatCannotBeListedAreAnError(t *testing.T) {
	state := t.TempDir()
	v := openView(t, Options{})
	if all, err := v.Bundles(context.Background(), state); !errors.Is(err, fs.ErrNotExist) || len(all) > 0 {
		t.Errorf("no bundles: %v %v, want fs.ErrNotExist", all, err)
	}
	write(t, mkdir(t, filepath.Join(state, runtimeV2, "k8s.io", "a"))+"/config.json", 0)
	if err := os.Symlink("moby", filepath.Join(state, runtimeV2, "moby")); err != nil {
		t.Fatal(err)
	}
	all, err := v.Bundles(context.Background(), state)
	if len(all) != 1 || err == nil || !strings.Contains(err.Error(), "moby: cannot tell: too many levels of symbolic links") {
		t.Errorf("a namespace that cannot be listed: %v %v, want the others and an error", all, err)
	}
	if all, err := (&View{walkErr: fs.ErrPermission}).Bundles(context.Background(), state); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("no right to walk: %v %v", all, err)
	}
}

func TestTheProcessOfAContainerIsTheOneWrittenDown(t *testing.T) {
	v := openView(t, Options{})
	b := Bundle{Dir: t.TempDir()}
	if pid, err := v.InitPID(context.Background(), b); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %d %v", pid, err)
	}
	for text, want := range map[string]int{
		"42": 42, "42\n": 42, "": 0, "0": 0, "-1": 0, "x": 0, "42 43": 0, strings.Repeat("4", 65): 0, "99999999999999999999": 0,
	} {
		if err := os.WriteFile(b.Dir+"/init.pid", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		pid, err := v.InitPID(context.Background(), b)
		if pid != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d %v, want %d", text, pid, err, want)
		}
		var cannot *CannotTell
		if want == 0 && !errors.As(err, &cannot) {
			t.Errorf("%q: %v, want cannot tell", text, err)
		}
	}
}

// A node with 500 containers.
func BenchmarkBundles(b *testing.B) {
	state := b.TempDir()
	for i := range 500 {
		write(b, mkdir(b, filepath.Join(state, runtimeV2, "k8s.io", fmt.Sprintf("%064d", i)))+"/config.json", 0)
	}
	v := openView(b, Options{})
	for b.Loop() {
		if all, err := v.Bundles(context.Background(), state); err != nil || len(all) != 500 {
			b.Fatal(len(all), err)
		}
	}
}
