package main

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/stub"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/cli"
)

// TestARuntimeThatDoesNotConfigureIsGivenUp: NRI's stub waits for it for ever,
// whether the connection is gone or only silent. Nothing of it is left, and the
// next runtime finds us.
func TestARuntimeThatDoesNotConfigureIsGivenUp(t *testing.T) {
	const givenUp, byItself = `"state":"` + audit.GivenUp, "no connection to the runtime"
	for _, test := range []struct {
		name    string
		behaves behaviour
		told    []string
	}{
		{"gone once it has registered us", dies, []string{givenUp, byItself}}, // perhaps before the answer was read
		{"silent once it has registered us", keepsSilent, []string{givenUp}},
		{"silent from the beginning", keepsStill, []string{byItself}}, // the stub gives up
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			n := newNode(t, enforcing, "")
			d := n.daemon()
			d.configureTime = 100 * time.Millisecond
			d.start("")
			fake := fakeRuntimeAt(t, filepath.Join(n.dir, "nri.sock"))
			config := cli.Config{Socket: fake.path, Index: "90"}

			before := stubs(t)
			var got end
			for again := true; again; {
				fake.next <- test.behaves
				got = connectAndServe(t.Context(), d, config)
				if got.outcome != unregistered || got.err == nil || errors.Is(got.err, errHung) {
					t.Errorf("outcome %d, %v", got.outcome, got.err)
				}
				// On a busy machine we may not even have been registered by then.
				again = test.behaves == keepsSilent && !errors.Is(got.err, errNotConfigured) && d.configureTime < time.Minute
				d.configureTime *= 2
			}
			d.recordEnd(got, "on with it")
			for end := time.Now().Add(time.Minute); stubs(t) > before; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%d stubs are left", stubs(t)-before)
				}
			}

			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			d.configureTime = configureTime // on a busy machine a runtime that works takes longer
			fake.next <- works
			done := make(chan end, 1)
			go func() { done <- connectAndServe(ctx, d, config) }()
			synchronized(fake, done)
			cancel()
			if got := <-done; got.outcome != served {
				t.Errorf("after it: outcome %d, %v", got.outcome, got.err)
			}
			trail := n.trail(d)
			if !slices.ContainsFunc(test.told, func(text string) bool { return strings.Contains(trail, text) }) {
				t.Errorf("none of %q in %s", test.told, trail)
			}
			if want := `"state":"` + audit.Connected; !strings.Contains(trail, want) {
				t.Errorf("no %s in %s", want, trail)
			}
		})
	}
}

// stubs counts the goroutines of stubs that wait in Start.
func stubs(t *testing.T) int {
	t.Helper()
	text := make([]byte, 4<<20)
	return strings.Count(string(text[:runtime.Stack(text, true)]), "stub.(*stub).Start(")
}

// hanging is a stub that cannot be let go.
type hanging struct{ stub.Stub }

func (hanging) Run(context.Context) error { select {} }

// TestAStubThatDoesNotEndIsTold: the caller counts them.
func TestAStubThatDoesNotEndIsTold(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	over := false
	conn := watched(silentConn{})
	err := runStub(ctx, hanging{}, watch{conn: conn, configured: make(chan struct{}), within: time.Hour, over: func() { over = true }})
	if !errors.Is(err, errHung) || !over {
		t.Errorf("%v, told to be over: %t", err, over)
	}
}

// TestALateEndOfAConfiguredStub is not told as the end of one that was never
// configured.
func TestALateEndOfAConfiguredStub(t *testing.T) {
	ours, theirs := net.Pipe()
	conn, configured, ran := watched(ours), make(chan struct{}), make(chan error, 1)
	w := watch{conn: conn, configured: configured, within: time.Minute, over: func() {}}
	go func() { ran <- runStub(t.Context(), hanging{}, w) }()
	configured <- struct{}{} // it has been seen
	_ = theirs.Close()
	_, _ = conn.Read(make([]byte, 1))
	if err := <-ran; !errors.Is(err, errHung) || errors.Is(err, errNotConfigured) {
		t.Errorf("error = %v", err)
	}
}

// TestAFailedStubNeverConnectsAgain is the reason for a new one each time.
func TestAFailedStubNeverConnectsAgain(t *testing.T) {
	n := newNode(t, enforcing, "")
	d := n.daemon()
	d.start("")
	fake := fakeRuntimeAt(t, filepath.Join(n.dir, "nri.sock"))
	p := &plugin{daemon: d, ctx: t.Context(), life: newConnectionLife()}
	make1 := func() stub.Stub {
		t.Helper()
		s, err := stub.New(p, stub.WithSocketPath(fake.path), stub.WithPluginName(name), stub.WithPluginIdx("90"), stub.WithLogger(stubLogger{d}))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	p.stub = make1()
	fake.next <- hangsUp
	if err := p.stub.Start(t.Context()); err == nil {
		t.Fatal("started with nobody")
	}
	fake.next <- works
	if err := p.stub.Start(t.Context()); err == nil {
		t.Error("a stub that failed connects again: the pinned NRI has changed, and may need no new one")
	}
	// The same through our own code.
	config := cli.Config{Socket: fake.path, Index: "90"}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- serveSocket(ctx, d, config) }()
	synchronized(fake, done)
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestALaunchedPluginEndsWithItsConnection: with an error, so that nobody takes
// it for done, and it never connects again.
func TestALaunchedPluginEndsWithItsConnection(t *testing.T) {
	n := newNode(t, enforcing, "")
	d := n.daemon()
	fake := fakeRuntimeAt(t, filepath.Join(n.dir, "nri.sock"))
	fd := dialFD(t, fake.path)
	t.Setenv("NRI_PLUGIN_SOCKET", fd)
	t.Setenv("NRI_PLUGIN_IDX", "90")
	t.Setenv("NRI_PLUGIN_NAME", name)
	text, err := os.ReadFile(n.settings)
	if err != nil {
		t.Fatal(err)
	}
	fake.config = string(text)
	fake.next <- works
	done := make(chan error, 1)
	go func() { done <- d.serve(t.Context(), serveLaunched) }()
	synchronized(fake, done)
	fake.hangUp()
	select {
	case err := <-done:
		if err == nil {
			t.Error("it ends without an error")
		}
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
	if got := fake.accepted.Load(); got != 1 {
		t.Errorf("%d connections", got)
	}
	trail := n.trail(d)
	for _, want := range []string{`"state":"lost"`, "mountward ends"} {
		if !strings.Contains(trail, want) {
			t.Errorf("no %s in %s", want, trail)
		}
	}
}
