package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"

	"github.com/mountward/mountward/pkg/facts"
)

// impatient is a runtime's stub with its time for a request.
type impatient struct {
	stub.Stub
	timeout time.Duration
}

func (s impatient) RequestTimeout() time.Duration { return s.timeout }

// turnPlugin is a plugin without a connection.
func turnPlugin(t *testing.T, policy, settings string, timeout time.Duration) (*node, *plugin) {
	t.Helper()
	n := newNode(t, policy, settings)
	d := n.daemon()
	d.start("")
	return n, &plugin{daemon: d, stub: impatient{timeout: timeout}, ctx: t.Context()}
}

func pod(static bool) *api.PodSandbox {
	p := &api.PodSandbox{Id: "pod", Name: "web", Namespace: "prod"}
	if static {
		p.Annotations = map[string]string{facts.AnnotationConfigSource: "file"}
	}
	return p
}

// hang is work that ends when the test does, whatever its context says.
func hang(t *testing.T) func(context.Context, *turn, facts.Container, *inForce) (int, error) {
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	return func(context.Context, *turn, facts.Container, *inForce) (int, error) {
		<-end
		return 1, nil
	}
}

const brief = 50 * time.Millisecond

// inItsOwnTime is a test whose clock goes on only while all of its goroutines
// wait: nothing is late because the machine is busy.
func inItsOwnTime(test func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) { synctest.Test(t, test) }
}

// TestEveryHandlerAnswers when its work hangs, is late or panics: with an error
// in enforce mode and not for a static pod, else without a change.
func TestEveryHandlerAnswers(t *testing.T) {
	works := map[string]struct {
		make func(*testing.T) func(context.Context, *turn, facts.Container, *inForce) (int, error)
		want string // in the error and in the trail
		code string // of the record
	}{
		"hangs": {hang, "no decision within 35ms", `"overdue"`},
		"late": {func(*testing.T) func(context.Context, *turn, facts.Container, *inForce) (int, error) {
			return func(ctx context.Context, turn *turn, _ facts.Container, _ *inForce) (int, error) {
				<-ctx.Done()
				if turn.commit(ctx) {
					t.Error("what was found out with a context that is over is an answer")
				}
				return 1, errOver
			}
		}, "no decision within 35ms", `"overdue"`},
		"hangs while it is written down": {func(t *testing.T) func(context.Context, *turn, facts.Container, *inForce) (int, error) {
			wait := hang(t)
			return func(ctx context.Context, turn *turn, c facts.Container, f *inForce) (int, error) {
				if !turn.commit(ctx) {
					t.Error("the turn is over at once")
				}
				return wait(ctx, turn, c, f)
			}
		}, "no decision within 35ms", `"overdue"`},
		"panics": {func(*testing.T) func(context.Context, *turn, facts.Container, *inForce) (int, error) {
			return func(context.Context, *turn, facts.Container, *inForce) (int, error) {
				var none []int
				return none[int(turnOver)], nil
			}
		}, "a fault in mountward itself", "index out of range"},
	}
	for name, work := range works {
		for _, test := range []struct {
			name     string
			policy   string
			settings string
			handler  handler
			static   bool
			refused  bool
		}{
			{"create", enforcing, "", handlerCreate, false, true},
			{"validate", enforcing, "", handlerValidate, false, true},
			{"start", enforcing, "", handlerStart, false, true},
			{"a static pod", enforcing, "", handlerCreate, true, false},
			{"a static pod's start", enforcing, "", handlerStart, true, false},
			{"audit mode", auditing, "", handlerCreate, false, false},
			{"audit mode's start", auditing, "", handlerStart, false, false},
			{"without a policy, as asked", "nonsense", "guard.on_policy_error = \"deny\"", handlerCreate, false, true},
			{"without a policy, what was created before", "nonsense", "guard.on_policy_error = \"deny\"", handlerStart, false, false},
			{"stop", enforcing, "", handlerStop, false, false},
			{"remove", enforcing, "", handlerRemove, false, false},
		} {
			t.Run(name+"/"+test.name, inItsOwnTime(func(t *testing.T) {
				n, p := turnPlugin(t, test.policy, test.settings, brief)
				value, err := answer(t.Context(), p, test.handler, pod(test.static), &api.Container{Id: "c1", Name: "app"}, work.make(t))
				if value != 0 {
					t.Errorf("answer %d, want none", value)
				}
				if (err != nil) != test.refused {
					t.Errorf("error %v, refused %t", err, test.refused)
				}
				if err != nil && (!strings.Contains(err.Error(), work.want) || len(err.Error()) >= 200) {
					t.Errorf("error %q (%d bytes), want %q in fewer than 200", err, len(err.Error()), work.want)
				}
				late, panics := uint64(1), uint64(0)
				if name == "panics" {
					late, panics = 0, 1
				}
				if s := p.daemon.state; s.late.Load() != late || s.panics.Load() != panics {
					t.Errorf("counted %d late and %d panics, want %d and %d", s.late.Load(), s.panics.Load(), late, panics)
				}
				trail := n.trail(p.daemon)
				at := strings.Index(trail, work.code)
				if at < 0 {
					t.Fatalf("no record has %s:\n%s", work.code, trail)
				}
				line := trail[strings.LastIndex(trail[:at], "\n")+1:]
				line, _, _ = strings.Cut(line, "\n")
				for _, want := range []string{`"c1"`, "prod", string(test.handler)} {
					if !strings.Contains(line, want) {
						t.Errorf("the record has no %s: %s", want, line)
					}
				}
				if got := strings.Contains(line, `"refused":true`); got != test.refused {
					t.Errorf("the record says refused %t, want %t: %s", got, test.refused, line)
				}
			}))
		}
	}
}

// TestAnAnswerInTime is the work's own, error or not, and nothing is recorded
// of it here.
func TestAnAnswerInTime(t *testing.T) {
	for _, want := range []error{nil, errors.New("refused by a rule")} {
		n, p := turnPlugin(t, enforcing, "", time.Minute)
		value, err := answer(t.Context(), p, handlerCreate, pod(false), &api.Container{Id: "c1"},
			func(ctx context.Context, turn *turn, c facts.Container, f *inForce) (int, error) {
				if _, bounded := ctx.Deadline(); !bounded || c.ID != "c1" || f == nil || !turn.commit(ctx) {
					t.Errorf("deadline %t, container %q, policy %v", bounded, c.ID, f)
				}
				if turn.commit(ctx) {
					t.Error("an answer is given twice")
				}
				return 7, want
			})
		if value != 7 || !errors.Is(err, want) {
			t.Errorf("%d, %v; want 7, %v", value, err, want)
		}
		if trail := n.trail(p.daemon); strings.Contains(trail, "c1") {
			t.Errorf("trail: %s", trail)
		}
	}
}

// TestWorkThatIsOverdueLeavesNoTrace: it cannot commit any more.
func TestWorkThatIsOverdueLeavesNoTrace(t *testing.T) {
	_, p := turnPlugin(t, enforcing, "", brief)
	answered, committed := make(chan struct{}), make(chan bool)
	_, err := answer(t.Context(), p, handlerCreate, pod(false), &api.Container{Id: "c1"},
		func(_ context.Context, turn *turn, _ facts.Container, _ *inForce) (int, error) {
			go func() {
				<-answered
				committed <- turn.commit(context.Background())
			}()
			<-answered
			return 1, nil
		})
	close(answered)
	if err == nil || <-committed {
		t.Errorf("error %v, and the work may still commit", err)
	}
}

// TestHandlersThatHangAreBounded: what comes then is answered at once, and works
// again when they have ended.
func TestHandlersThatHangAreBounded(t *testing.T) {
	_, p := turnPlugin(t, enforcing, "", brief)
	end := make(chan struct{})
	var all sync.WaitGroup
	for range maxOverdue {
		all.Go(func() {
			_, err := answer(t.Context(), p, handlerCreate, pod(false), &api.Container{Id: "c"},
				func(context.Context, *turn, facts.Container, *inForce) (int, error) {
					<-end
					return 0, nil
				})
			if err == nil {
				t.Error("no error")
			}
		})
	}
	all.Wait()
	at := func() error {
		_, err := answer(t.Context(), p, handlerCreate, pod(false), &api.Container{Id: "c"},
			func(context.Context, *turn, facts.Container, *inForce) (int, error) { return 0, nil })
		return err
	}
	if err := at(); err == nil || !strings.Contains(err.Error(), "earlier requests have not ended") {
		t.Errorf("error %v", err)
	}
	close(end)
	for at() != nil {
		time.Sleep(time.Millisecond)
	}
}

// TestStandingAside answers everything without a change, until its time is up;
// what only cleans up goes on where nobody else does it.
func TestStandingAside(t *testing.T) {
	_, p := turnPlugin(t, enforcing, "", time.Minute)
	now := time.Unix(1000, 0)
	p.daemon.now = func() time.Time { return now }
	worked := func(h handler) bool {
		value, err := answer(t.Context(), p, h, pod(false), &api.Container{Id: "c"},
			func(context.Context, *turn, facts.Container, *inForce) (int, error) { return 1, nil })
		if err != nil {
			t.Error(err)
		}
		return value == 1
	}
	for _, test := range []struct {
		name             string
		aside            *aside
		creates, removes bool
	}{
		{"not", nil, true, true},
		{"for a time", &aside{why: "emergency", until: now.Add(time.Second)}, false, true},
		{"the time is up", &aside{why: "emergency", until: now}, true, true},
		{"another instance", &aside{why: "no lock", idle: true}, false, false},
	} {
		p.daemon.aside.Store(test.aside)
		for _, h := range []handler{handlerCreate, handlerValidate, handlerStart} {
			if got := worked(h); got != test.creates {
				t.Errorf("%s: %s works %t, want %t", test.name, h, got, test.creates)
			}
		}
		for _, h := range []handler{handlerStop, handlerRemove} {
			if got := worked(h); got != test.removes {
				t.Errorf("%s: %s works %t, want %t", test.name, h, got, test.removes)
			}
		}
	}
}

// TestAPanicInTheBackground is recorded, and ends nothing else.
func TestAPanicInTheBackground(t *testing.T) {
	n, p := turnPlugin(t, enforcing, "", time.Minute)
	p.background("the test", func() { panic("oh\nno") })
	p.work.Wait()
	if trail := n.trail(p.daemon); !strings.Contains(trail, "the test") || !strings.Contains(trail, `oh\nno`) {
		t.Errorf("trail: %s", trail)
	}
}

// TestARefusalIsAnsweredWhenItIsRecorded: this process may be killed right after.
func TestARefusalIsAnsweredWhenItIsRecorded(t *testing.T) {
	n, p := turnPlugin(t, enforcing, "", time.Hour)
	p.daemon.settleTime = time.Minute
	for i := range 200 {
		id := fmt.Sprintf("c%d.", i)
		_, err := answer(t.Context(), p, handlerCreate, pod(false), &api.Container{Id: id, Name: id}, func(_ context.Context, _ *turn, c facts.Container, f *inForce) (int, error) {
			err := errors.New("no")
			p.daemon.recordRefusal(c, f, err)
			return 0, err
		})
		if err == nil {
			t.Fatal("not refused")
		}
		text, err := os.ReadFile(filepath.Join(n.dir, "audit.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), id) {
			t.Fatalf("no record of refusal %d by now", i)
		}
	}
}
