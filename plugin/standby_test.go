package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/cli"
)

// tree is what a daemon keeps: each file with its size and time.
func tree(t *testing.T, dirs ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.Contains(path, "/crash/") || strings.Contains(path, "/spool/") {
				return err
			}
			info, err := entry.Info()
			if err == nil {
				all[path] = info.ModTime().String() + " " + info.Mode().String()
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestTheInstanceWithoutTheLockKeepsNothing and answers nothing, until the other
// one is gone; then it goes through what the runtime told it.
func TestTheInstanceWithoutTheLockKeepsNothing(t *testing.T) {
	n := newNode(t, enforcing+"[[rule]]\nname = \"no\"\nmatch.destination = [\"/data\"]\naction = \"deny\"\n", "")
	holder := n.daemon()
	holder.start("")
	before := tree(t, n.dir+"/run", n.dir+"/state")

	d := n.daemon()
	d.start("")
	if a := d.standsAside(); a == nil || !a.idle || !strings.Contains(a.why, n.dir+"/run/lock") {
		t.Fatalf("aside: %+v", a)
	}
	fake := fakeRuntimeAt(t, filepath.Join(n.dir, "nri.sock"))
	fake.pods = []*api.PodSandbox{{Id: "pod1", Namespace: "shop"}}
	fake.containers = []*api.Container{{Id: "c1", PodSandboxId: "pod1"}, {Id: "c2", PodSandboxId: "pod1"}, {Id: "c4", PodSandboxId: "pod1"}}
	fake.next <- works
	done := make(chan end, 1)
	go func() { done <- connectAndServe(t.Context(), d, cli.Config{Socket: fake.path, Index: "90"}) }()
	runtime := synchronized(fake, done)
	create := func() error {
		_, err := runtime.CreateContainer(t.Context(), &api.CreateContainerRequest{
			Pod:       fake.pods[0],
			Container: &api.Container{Id: "c3", PodSandboxId: "pod1", Mounts: []*api.Mount{{Destination: "/data", Source: "/", Type: "bind", Options: []string{"rbind", "rprivate"}}}},
		})
		return err
	}
	if err := create(); err != nil {
		t.Errorf("it refuses: %v", err)
	}
	for _, id := range []string{"c2", "c4"} {
		if _, err := runtime.StateChange(t.Context(), &api.StateChangeEvent{Event: api.Event_REMOVE_CONTAINER, Pod: fake.pods[0], Container: &api.Container{Id: id}}); err != nil {
			t.Error(err)
		}
	}
	d.loadPolicy() // as SIGHUP does
	if diff := cmp.Diff(before, tree(t, n.dir+"/run", n.dir+"/state")); diff != "" {
		t.Errorf("what is kept (-before +after):\n%s", diff)
	}

	holder.close()
	if err := create(); err == nil || !strings.Contains(err.Error(), `rule "no"`) {
		t.Errorf("after the end of the other: %v, want our refusal", err)
	}
	const synchronized = "synchronized with the runtime (missed=0, proved=0, running=2)"
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(filepath.Join(n.dir, "audit.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), synchronized) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("it never goes through what runs: %s", text)
		}
	}
	fake.hangUp()
	if got := <-done; got.outcome != served {
		t.Errorf("%+v", got)
	}
	trail := n.trail(d)
	for _, want := range []string{`"state":"standing-aside"`, `"state":"took-over"`} {
		if !strings.Contains(trail, want) {
			t.Errorf("no %s in %s", want, trail)
		}
	}
}

// TestConnectingAgainLeaksNothing: 20 times, of which every third runtime does
// not configure us.
func TestConnectingAgainLeaksNothing(t *testing.T) {
	n := newNode(t, enforcing, "")
	d := n.daemon()
	d.start("")
	fake := fakeRuntimeAt(t, filepath.Join(n.dir, "nri.sock"))
	config := cli.Config{Socket: fake.path, Index: "90"}
	connect := func(how behaviour) {
		t.Helper()
		d.configureTime = configureTime
		if how != works { // on a busy machine a runtime that works takes longer
			d.configureTime = 50 * time.Millisecond
		}
		fake.next <- how
		done := make(chan end, 1)
		go func() { done <- connectAndServe(t.Context(), d, config) }()
		if how == works {
			synchronized(fake, done)
			fake.hangUp()
		}
		got := <-done
		if got.err == nil || errors.Is(got.err, errHung) || (got.outcome == served) != (how == works) {
			t.Errorf("%+v", got)
		}
	}
	// The fake runtime keeps a connection's goroutines until the test ends; it
	// is ours that must not.
	ours := func() (goroutines int) {
		text := make([]byte, 4<<20)
		for one := range strings.SplitSeq(string(text[:runtime.Stack(text, true)]), "\n\n") {
			if !strings.Contains(one, "fakeRuntime") && (strings.Contains(one, "mountward/plugin.") || strings.Contains(one, "nri/pkg/stub") || strings.Contains(one, "hostview")) {
				goroutines++
			}
		}
		return goroutines
	}
	connect(works)
	connect(keepsSilent)
	before := ours()
	for i := range 20 {
		connect(map[bool]behaviour{true: keepsSilent, false: works}[i%3 == 0])
	}
	for end := time.Now().Add(time.Minute); ours() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", ours(), before)
		}
	}
}

// TestWorkThatHangsIsLeftBehind with its connection: else nobody connects again,
// and a launched plugin never ends and keeps the lock.
func TestWorkThatHangsIsLeftBehind(t *testing.T) {
	n := newNode(t, enforcing, "")
	d := n.daemon()
	d.start("")
	fake := fakeRuntimeAt(t, filepath.Join(n.dir, "nri.sock"))
	fake.next <- works
	done := make(chan end, 1)
	go func() { done <- connectAndServe(t.Context(), d, cli.Config{Socket: fake.path, Index: "90"}) }()
	synchronized(fake, done)
	hangs := make(chan struct{})
	defer close(hangs)
	d.connection.Load().background("work", func() { <-hangs })
	fake.hangUp()
	select {
	case got := <-done:
		if got.outcome != served || !errors.Is(got.err, errHung) {
			t.Errorf("%+v", got)
		}
	case <-time.After(time.Minute):
		t.Fatal("the connection is never over")
	}
}
