package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/ledger"
	"github.com/mountward/mountward/pkg/volumes"
)

// TestAVerbEndsThoughSomethingHangs, and tells what.
func TestAVerbEndsThoughSomethingHangs(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	_, err := bounded(t.Context(), 20*time.Millisecond, func(_ context.Context, at step) (int, error) {
		at("the first")
		at("the se\ncond")
		<-release
		return 1, nil
	})
	if codeOf(t, err) != ExitCannotTell || err.Error() != `the se\012cond: no answer in 20ms` {
		t.Errorf("what hangs: %v", err)
	}
	_, err = bounded(t.Context(), time.Hour, func(ctx context.Context, _ step) (int, error) {
		if end, ok := ctx.Deadline(); !ok || time.Until(end) > 55*time.Minute {
			t.Errorf("the work has until %v %t", end, ok)
		}
		return 1, errors.New("told in time")
	})
	if err == nil || err.Error() != "told in time" {
		t.Errorf("what knows of the time: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := bounded(ctx, time.Hour, func(context.Context, step) (int, error) { <-release; return 0, nil }); codeOf(t, err) != ExitCannotTell || !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if got, err := bounded(t.Context(), time.Hour, func(context.Context, step) (int, error) { return 7, nil }); got != 7 || err != nil {
		t.Errorf("all well: %d, %v", got, err)
	}
}

// TestALedgerThatHangsIsAskedOnce: the others have the reason at once.
func TestALedgerThatHangsIsAskedOnce(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	var asked atomic.Int32
	get := patient(t.Context(), "/run/x", 10*time.Millisecond, func(id string) (ledger.Entry, bool, error) {
		asked.Add(1)
		switch id {
		case "hangs":
			<-release
		case "damaged":
			return ledger.Entry{}, false, errors.New("damaged")
		}
		return ledger.Entry{Container: facts.Container{ID: id}}, true, nil
	})
	if d, known, err := get("a"); d.Container.ID != "a" || !known || err != nil {
		t.Errorf("before: %+v %t %v", d, known, err)
	}
	if _, known, err := get("damaged"); known || err == nil || err.Error() != "damaged" {
		t.Errorf("damaged: %t %v", known, err)
	}
	for _, id := range []string{"hangs", "a", "b"} {
		if _, known, err := get(id); known || err == nil || err.Error() != "/run/x: no answer in 10ms" {
			t.Errorf("%s: %t %v", id, known, err)
		}
	}
	if n := asked.Load(); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
}

// TestNotEveryUnknownIsALine of its own.
func TestNotEveryUnknownIsALine(t *testing.T) {
	for _, n := range []int{0, 1, maxTold, maxTold + 1, 60000} {
		var all []volumes.Unknown
		for i := range n {
			all = append(all, volumes.Unknown{What: fmt.Sprint("x", i), Why: "y"})
		}
		var out bytes.Buffer
		tellUnknown(&out, all)
		more := fmt.Sprintf("mountward: cannot tell: %d more\n", n-maxTold)
		if lines := strings.Count(out.String(), "\n"); lines != min(n, maxTold+1) || strings.HasSuffix(out.String(), more) != (n > maxTold) {
			t.Errorf("%d: %d lines, %s", n, lines, out.String())
		}
	}
}

// TestStatesThatWereNotGiven: what runs below them is not looked at.
func TestStatesThatWereNotGiven(t *testing.T) {
	given := map[string]bool{"/run/containerd": true}
	if why := others([]string{"/run/containerd"}, given); why != "" {
		t.Errorf("all are given: %s", why)
	}
	if why := others(nil, given); why != "" {
		t.Errorf("no shim runs: %s", why)
	}
	if why := others([]string{"/run/containerd", "/run/k3s"}, given); why != "containers run below /run/k3s as well, which --state does not name" {
		t.Errorf("one is not given: %q", why)
	}
}
