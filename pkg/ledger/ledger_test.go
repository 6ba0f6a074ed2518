package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

func entry(id string) Entry {
	mount := facts.Mount{
		Destination: "/data/", Source: "/host/data", Type: "bind", Options: []string{"rbind", "rprivate"},
		Host: &facts.HostMount{
			Canonical: "/host/data", MountPoint: "/host", MountID: 1 << 40, Device: facts.DeviceNumber{Major: 253, Minor: 3},
			Root: "/", FSType: "xfs", Source: "/dev/mapper/vg-lv", State: facts.MountState{Peer: 7}, Rung: "statmount",
		},
	}
	return Entry{
		Schema: Schema,
		Container: facts.Container{
			ID: id, Name: "app", Image: "registry.example/app:1", Labels: map[string]string{"a": "b"},
			Pod: facts.Pod{
				ID: "p", Namespace: "ns", Name: "pod", UID: "u", Labels: map[string]string{"c": "d"},
				Annotations: map[string]string{facts.AnnotationConfigSource: "file"}, Runtime: "runc",
			},
			Mounts:     []facts.Mount{mount, {Destination: "/proc", Type: "proc", HostWhy: "no path"}},
			Privileged: facts.CannotTell("no sign"), UserNamespace: true, Role: facts.RoleCSINode,
		},
		Outcomes: []facts.Outcome{{
			Mount: mount, Asked: facts.Private, Decided: facts.Slave, Action: facts.ActionSet, Result: facts.Applied,
			Reason: "because", Rule: "r", Position: "policy.toml:12", Audited: []string{"watch"}, Would: true,
			Shadow: []facts.Shadow{{Rule: "s", Position: "policy.toml:20", Reason: "soon", Action: facts.ActionSet, Propagation: facts.Slave}},
		}},
		Mode: "enforce", PolicyName: "/etc/mountward/policy.toml", PolicySHA256: "9f86", Refused: true,
		Created: time.Date(2026, 11, 29, 20, 30, 1, 123456789, time.UTC),
	}
}

func open(t *testing.T, dir string) *Ledger {
	t.Helper()
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func put(t *testing.T, l *Ledger, e Entry) {
	t.Helper()
	if err := l.Put(e); err != nil {
		t.Fatal(err)
	}
}

func wantEntry(t *testing.T, l *Ledger, want Entry) {
	t.Helper()
	got, ok, err := l.Get(want.Container.ID)
	if diff := cmp.Diff(want, got); !ok || err != nil || diff != "" {
		t.Errorf("Get: %v, %v, -want +got\n%s", ok, err, diff)
	}
}

func wantNone(t *testing.T, l *Ledger, id string) {
	t.Helper()
	if e, ok, err := l.Get(id); ok || err != nil {
		t.Errorf("Get(%s) = %+v, %v, %v: want none", id, e, ok, err)
	}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want %q in it", err, part)
		}
	}
}

func TestAnEntryIsReadAsItWasPut(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run", "containers")
	l := open(t, dir)
	wantNone(t, l, "c1")
	e := entry("c1")
	put(t, l, e)
	wantEntry(t, l, e)
	wantEntry(t, open(t, dir), e) // after a restart, from the file

	e.Refused, e.Outcomes = false, nil
	put(t, l, e)
	wantEntry(t, l, e)
	wantEntry(t, open(t, dir), e)

	for path, want := range map[string]os.FileMode{dir: 0o700, l.path("c1"): 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v (%v), want %v", path, info.Mode(), err, want)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v (%v)", files, err)
	}
}

func TestOnlyTheConfigSourceOfThePodsAnnotationsIsKept(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	want := entry("c1")
	e := entry("c1")
	e.Container.Pod.Annotations["secret"] = strings.Repeat("x", 1000)
	put(t, l, e)
	wantEntry(t, l, want)
	wantEntry(t, open(t, dir), want)
	if len(e.Container.Pod.Annotations) != 2 {
		t.Error("the caller's annotations were changed")
	}
	e.Container.Pod.Annotations = map[string]string{"secret": "x"}
	want.Container.Pod.Annotations = nil
	put(t, l, e)
	wantEntry(t, l, want)
	wantEntry(t, open(t, dir), want)
}

func TestGetReturnsACopy(t *testing.T) {
	l := open(t, t.TempDir())
	put(t, l, entry("c1"))
	got, _, _ := l.Get("c1")
	got.Outcomes[0].Result = facts.Refused
	got.Container.Mounts[0].Host.Root = "/changed"
	got.Container.Mounts[0].Options[0] = "changed"
	got.Container.Labels["a"] = "changed"
	wantEntry(t, l, entry("c1"))
}

func TestIDsThatAreNoneAreRefused(t *testing.T) {
	l := open(t, t.TempDir())
	for _, id := range []string{"", ".", "..", "../x", ".x", "-x", "_x", "a/b", "/a", "a b", "a\x00", "a\n", "ü", "a\xff", strings.Repeat("a", maxID+1)} {
		_, ok, err := l.Get(id)
		if ok || err == nil || l.Put(entry(id)) == nil || l.Remove(id) == nil {
			t.Errorf("container id %q was accepted", id)
		}
	}
	for _, id := range []string{"a", "0", "A_b-c.d..e", strings.Repeat("a", maxID)} {
		put(t, l, entry(id))
		wantEntry(t, open(t, l.dir), entry(id))
	}
}

func TestRemoveAndList(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	for _, id := range []string{"c2", "c1", "c3"} {
		put(t, l, entry(id))
	}
	for _, name := range []string{"note.txt", ".hidden.json", "bad id.json", ".c1.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Remove("c2"); err != nil {
		t.Fatal(err)
	}
	wantNone(t, l, "c2")
	for name, l := range map[string]*Ledger{"this process": l, "after a restart": open(t, dir)} {
		ids, err := l.List()
		if diff := cmp.Diff([]string{"c1", "c3"}, ids); err != nil || diff != "" {
			t.Errorf("%s: %v, -want +got\n%s", name, err, diff)
		}
	}
	for _, id := range []string{"c1", "c2", "never-created"} {
		if err := l.Remove(id); err != nil {
			t.Errorf("Remove(%s): %v", id, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, ".c1.tmp")); err == nil {
		t.Error("what a crash left behind was not removed")
	}
}

func TestADamagedFileIsAnErrorThatNamesIt(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	put(t, l, entry("c1"))
	whole, err := os.ReadFile(l.path("c1"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{
		"empty": "", "null": "null", "a list": "[]", "more behind": string(whole) + "{}",
		"another container's": strings.Replace(string(whole), `"id":"c1"`, `"id":"c2"`, 1),
		"another schema":      strings.Replace(string(whole), Schema, "mountward.container/v9", 1),
	}
	for i := 0; i < len(whole); i += 7 {
		texts[fmt.Sprintf("cut after %d bytes", i)] = string(whole[:i])
	}
	l = open(t, dir)
	for name, text := range texts {
		if err := os.WriteFile(l.path("c1"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, ok, err := l.Get("c1")
		if ok || err == nil || !strings.Contains(err.Error(), l.path("c1")) {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
	}
	put(t, l, entry("c1")) // and is replaced
	wantEntry(t, open(t, dir), entry("c1"))
}

func TestAFullDirectoryIsAnErrorAndTheEntryIsStillFound(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	before, after := entry("c1"), entry("c1")
	after.Mode = "audit"
	put(t, l, before)
	if err := os.Symlink("/dev/full", l.temporary("c1")); err != nil {
		t.Fatal(err)
	}
	wantError(t, l.Put(after), l.path("c1"), "no space left on device")
	wantEntry(t, l, after)
	wantEntry(t, open(t, dir), before) // not half of the new one
	if _, err := os.Lstat(l.temporary("c1")); err == nil {
		t.Error("the temporary file is left")
	}
	put(t, l, after)
	wantEntry(t, open(t, dir), after)
}

func TestADirectoryThatCannotBeMadeIsAnErrorAndTheLedgerStillWorks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(filepath.Join(dir, "containers"))
	wantError(t, err, "open ledger "+l.dir, "not a directory")
	for i := range 3 * maxRecent {
		wantError(t, l.Put(entry(fmt.Sprintf("c%03d", i))), "not a directory")
	}
	wantEntry(t, l, entry(fmt.Sprintf("c%03d", 3*maxRecent-1)))
	wantEntry(t, l, entry(fmt.Sprintf("c%03d", 2*maxRecent)))
	if len(l.recent.entries) != maxRecent {
		t.Errorf("%d entries in memory, want at most %d", len(l.recent.entries), maxRecent)
	}
	_, ok, err := l.Get("c000")
	wantError(t, err, "not a directory") // cannot tell, not "none"
	if ok {
		t.Error("an entry that is nowhere was found")
	}
	_, err = l.List()
	wantError(t, err, "list ledger", "not a directory")

	// The directory can be made again: the next entry is written.
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	put(t, l, entry("c1"))
	wantEntry(t, open(t, l.dir), entry("c1"))
}

func TestALostDirectoryIsMadeAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "containers")
	l := open(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	wantNone(t, l, "c1")
	if ids, err := l.List(); err != nil || len(ids) != 0 {
		t.Errorf("List: %v, %v", ids, err)
	}
	put(t, l, entry("c1"))
	wantEntry(t, open(t, dir), entry("c1"))
}

func TestADirectoryOthersCanWriteIsRefused(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	put(t, l, entry("c1"))
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	l, err := Open(dir)
	wantError(t, err, "chmod go-w "+dir)
	wantError(t, l.Put(entry("c2")), "chmod go-w "+dir)
	_, ok, err := l.Get("c1")
	wantError(t, err, "chmod go-w "+dir)
	if ok {
		t.Error("an entry that others could have written was believed")
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o777 {
		t.Errorf("the mode was changed: %v, %v", info.Mode(), err)
	}
}

func TestConcurrentUse(t *testing.T) {
	dir := t.TempDir()
	l, reader := open(t, dir), open(t, dir)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			id := fmt.Sprintf("c%d", i%2) // two writers an entry
			for range 50 {
				if err := l.Put(entry(id)); err != nil {
					t.Error(err)
				}
				for _, l := range []*Ledger{l, reader} {
					if _, ok, err := l.Get(id); !ok || err != nil {
						t.Errorf("Get(%s): %v, %v", id, ok, err)
					}
				}
				if _, err := l.List(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}
