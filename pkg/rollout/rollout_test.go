package rollout

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

func noon() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }

func open(t *testing.T, dir string) *Count {
	t.Helper()
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func watching() Policy { return Policy{SHA256: "aa", Name: "/etc/p.toml", Mode: "audit"} }

func refusal(rule, uid string) Refusal {
	return Refusal{PodUID: uid, Rule: rule, Position: "p:1", Example: Example{Namespace: "prod", Pod: "web", Container: "a", Mount: "/data", Reason: "no"}}
}

// TestTheCountSurvivesARestart: and goes on, and knows the containers again.
func TestTheCountSurvivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := open(t, dir)
	c.Under(watching(), noon())
	c.Watch(1500 * time.Millisecond)
	c.Created(watching())
	c.Would(watching(), refusal("r", "u1"), noon())
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	c = open(t, dir)
	c.Under(watching(), noon().Add(time.Hour)) // the same policy
	c.Watch(1500 * time.Millisecond)
	c.Watch(500 * time.Millisecond)
	c.Created(watching())
	c.Would(watching(), refusal("r", "u1"), noon().Add(time.Minute)) // the pod loops
	c.Would(watching(), refusal("r", "u2"), noon().Add(2*time.Minute))
	c.Would(watching(), refusal("", "u2"), noon())
	want := Tally{
		Schema: Schema, Policy: "aa", Name: "/etc/p.toml", Mode: "audit", Since: noon(), Watched: 3, Containers: 2,
		Refusals: []Refusals{
			{Rule: "r", Position: "p:1", Times: 3, Containers: 2, First: noon(), Last: noon().Add(2 * time.Minute), Example: refusal("", "").Example},
			{Position: "p:1", Times: 1, Containers: 1, First: noon(), Last: noon(), Example: refusal("", "").Example},
		},
	}
	if diff := cmp.Diff(want, c.Tally()); diff != "" {
		t.Errorf("tally (-want +got):\n%s", diff)
	}
	if got := c.Tally().Total(); got != 4 {
		t.Errorf("total %d, want 4", got)
	}
}

// TestWhatAnotherInstanceCountedIsTakenOver: by one that read the file before.
func TestWhatAnotherInstanceCountedIsTakenOver(t *testing.T) {
	dir := t.TempDir()
	waits, decides := open(t, dir), open(t, dir)
	decides.Under(watching(), noon())
	decides.Created(watching())
	decides.Would(watching(), refusal("no-shared", "uid"), noon())
	if err := decides.Save(); err != nil {
		t.Fatal(err)
	}
	if err := waits.Again(); err != nil {
		t.Fatal(err)
	}
	waits.Under(watching(), noon())
	if got := waits.Tally(); got.Containers != 1 || got.Total() != 1 {
		t.Errorf("%+v", got)
	}
}

// TestAnotherPolicyBeginsAnew: another text, or the same in another mode.
func TestAnotherPolicyBeginsAnew(t *testing.T) {
	t.Parallel()
	for name, next := range map[string]Policy{
		"another text": {SHA256: "bb", Name: "/etc/p.toml", Mode: "audit"},
		"enforced":     {SHA256: "aa", Name: "/etc/p.toml", Mode: "enforce"},
	} {
		c := open(t, t.TempDir())
		c.Under(watching(), noon())
		c.Watch(time.Hour)
		c.Created(watching())
		c.Would(watching(), refusal("r", "u"), noon())
		c.Under(next, noon().Add(time.Hour))
		want := Tally{Schema: Schema, Policy: next.SHA256, Name: next.Name, Mode: next.Mode, Since: noon().Add(time.Hour)}
		if diff := cmp.Diff(want, c.Tally(), cmp.Comparer(func(a, b []Refusals) bool { return len(a) == 0 && len(b) == 0 })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestWhatIsNotOfThePolicyInForceIsNotCounted: a judgement can end after a reload.
func TestWhatIsNotOfThePolicyInForceIsNotCounted(t *testing.T) {
	t.Parallel()
	for name, old := range map[string]Policy{
		"another text": {SHA256: "bb", Mode: "audit"}, "another mode": {SHA256: "aa", Mode: "enforce"},
	} {
		c := open(t, t.TempDir())
		c.Under(watching(), noon())
		c.Created(old)
		if c.Would(old, refusal("r", "u"), noon()) || c.Tally().Total() != 0 || c.Tally().Containers != 0 {
			t.Errorf("%s: %+v", name, c.Tally())
		}
	}
}

// TestAContainerThatRunsIsCountedOnce: it would be refused once, when it is made
// anew, however often we look. One that is created again is refused again.
func TestAContainerThatRunsIsCountedOnce(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir())
	c.Under(watching(), noon())
	runs := refusal("r", "u")
	runs.Running = true
	for i, step := range []struct {
		r     Refusal
		times uint64
	}{{runs, 1}, {runs, 1}, {refusal("r", "u"), 2}, {runs, 2}} {
		counted := c.Would(watching(), step.r, noon())
		if got := c.Tally().Refusals[0]; got.Times != step.times || got.Containers != 1 || counted != (i%2 == 0) {
			t.Errorf("step %d: counted %t, %+v", i, counted, got)
		}
	}
}

// TestADamagedFileIsToldAndCountedAnew: never a crash, never a ready that nobody
// has seen.
func TestADamagedFileIsToldAndCountedAnew(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"empty":        func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"garbage":      func(p string) error { return os.WriteFile(p, []byte("\x00\xff"), 0o600) },
		"another form": func(p string) error { return os.WriteFile(p, []byte(`{"schema":"x/v9"}`), 0o600) },
		"impossible": func(p string) error {
			return os.WriteFile(p, []byte(`{"schema":"mountward.rollout/v1","watched_seconds":-1}`), 0o600)
		},
		"huge":        func(p string) error { return os.WriteFile(p, make([]byte, maxSize+1), 0o600) },
		"a directory": func(p string) error { return os.Mkdir(p, 0o700) },
		"a pipe":      func(p string) error { return syscall.Mkfifo(p, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := damage(Path(dir)); err != nil {
				t.Fatal(err)
			}
			c, err := Open(dir)
			if err == nil || !strings.Contains(err.Error(), Path(dir)) {
				t.Errorf("%v, want an error that names the file", err)
			}
			c.Under(watching(), noon())
			c.Watch(time.Second)
			tally := c.Tally()
			if tally.Note == "" || tally.Watched != 1 || tally.Ready(DefaultEnough()).Truth != facts.Unknown {
				t.Errorf("%+v", tally)
			}
			err = c.Save()
			if _, ok, readErr := Read(dir); name != "a directory" && (err != nil || readErr != nil || !ok) {
				t.Errorf("saved: %v; read again: %t, %v", err, ok, readErr)
			}
		})
	}
}

// TestTheFileIsBounded: by whatever and however many rules and names.
func TestTheFileIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := open(t, dir)
	c.Under(Policy{SHA256: "aa", Name: strings.Repeat("\xff", 1<<20), Mode: "audit"}, noon())
	long := strings.Repeat("\x01", 1<<12) // six bytes in JSON
	for rule := range maxRules + 3 {
		for n := range maxSeen + 5 {
			c.Would(watching(), Refusal{
				PodUID: fmt.Sprint(n), Rule: fmt.Sprint(rule), Position: long,
				Example: Example{Namespace: long, Pod: long, Container: long, Mount: long, Reason: long},
			}, noon())
		}
	}
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(Path(dir))
	if err != nil || info.Size() > maxSize/2 || info.Mode().Perm() != 0o600 {
		t.Errorf("%d bytes, mode %v, %v", info.Size(), info.Mode(), err)
	}
	again := open(t, dir).Tally()
	if len(again.Refusals) != maxRules || again.More != 3*(maxSeen+5) || again.Refusals[0].Containers != maxSeen+5 {
		t.Errorf("%d rules, %d more, %d containers", len(again.Refusals), again.More, again.Refusals[0].Containers)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files, want one", len(left))
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	enough := Enough{time.Hour, 10}
	seen := func(change func(*Tally)) Tally {
		tally := Tally{Mode: "audit", Watched: 3600, Containers: 10}
		change(&tally)
		return tally
	}
	for name, test := range map[string]struct {
		tally Tally
		want  facts.Truth
	}{
		"enough":            {seen(func(*Tally) {}), facts.Yes},
		"a second too few":  {seen(func(t *Tally) { t.Watched-- }), facts.Unknown},
		"one too few":       {seen(func(t *Tally) { t.Containers-- }), facts.Unknown},
		"a refusal":         {seen(func(t *Tally) { t.Refusals = []Refusals{{Times: 1}} }), facts.No},
		"seen little of it": {Tally{Mode: "audit", Refusals: []Refusals{{Times: 1}}}, facts.No},
		"by further rules":  {seen(func(t *Tally) { t.More = 1 }), facts.No},
		"enforced already":  {Tally{Mode: "enforce"}, facts.Yes},
		"nothing":           {Tally{}, facts.Unknown},
	} {
		if got := test.tally.Ready(enough); got.Truth != test.want || got.Why == "" {
			t.Errorf("%s: %+v, want %s", name, got, test.want)
		}
	}
}

// FuzzFile: what is read can be counted on, saved and read again.
func FuzzFile(f *testing.F) {
	f.Add([]byte(`{"schema":"mountward.rollout/v1","policy_sha256":"aa","mode":"audit","watched_seconds":9,"containers":2,"refusals":[{"times":2,"containers":1,"seen":["x"]}]}`))
	f.Add([]byte(`{"schema":"mountward.rollout/v1"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		tally, err := parse(text)
		if err != nil {
			return
		}
		dir := t.TempDir()
		if err := os.WriteFile(Path(dir), text, 0o600); err != nil {
			t.Fatal(err)
		}
		c := open(t, dir)
		by := Policy{SHA256: tally.Policy, Mode: tally.Mode}
		c.Under(by, noon())
		c.Would(by, refusal("r", "u"), noon())
		if err := c.Save(); err != nil {
			t.Fatal(err)
		}
		again := open(t, dir)
		if diff := cmp.Diff(c.Tally(), again.Tally()); diff != "" {
			t.Errorf("read again (-want +got):\n%s", diff)
		}
	})
}
