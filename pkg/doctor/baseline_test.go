package doctor

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

// report is the JSON of a report with the findings, and what else is given.
func report(t *testing.T, findings []Finding, unknown []namespaces.Unknown, sizes []Size, containers int) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"schema": Schema, "findings": append([]Finding{}, findings...), "unknown": append([]namespaces.Unknown{}, unknown...),
		"places": sizes, "containers": containers, "kernel": "6.12",
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func document(findings []Finding, unknown []namespaces.Unknown, sizes []Size, containers int) Document {
	return Document{Findings: findings, Unknown: unknown, Places: sizes, Containers: containers}
}

func baseline(t *testing.T, findings []Finding, unknown []namespaces.Unknown, sizes []Size, containers int) Baseline {
	t.Helper()
	b, err := ReadBaseline(report(t, findings, unknown, sizes, containers))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func finding(code string, answer facts.Truth, subject, where string) Finding {
	return Finding{Code: code, Answer: answer, Subject: subject, Where: where, Message: "because"}
}

// TestOnlyWhatGotWorseIsTold: a problem that was there is no regression, one
// that is new or could not be told before is. A reboot changes nothing.
func TestOnlyWhatGotWorseIsTold(t *testing.T) {
	const before, after = "runtime containerd[812] mnt:[4026531841]", "runtime containerd[99] mnt:[4026532001]"
	b := baseline(t, []Finding{
		finding("shared", facts.Yes, "/", before),
		finding("not-shared", facts.No, "/sys", before),
		finding("doubling", facts.Unknown, "/run", before),
		finding("stale", facts.Unknown, "a", ""),
		finding("orphan", facts.Yes, "b", ""),
	}, []namespaces.Unknown{{What: "process 6 (kubelet)", Why: "permission denied"}}, nil, 0)
	now := []Finding{
		finding("not-shared", facts.No, "/", after),        // new
		finding("not-shared", facts.No, "/sys", after),     // as before
		finding("not-shared", facts.No, "/sys", "kubelet"), // in another place: new
		finding("doubling", facts.No, "/run", after),       // known now: worse
		finding("stale", facts.Yes, "a", ""),               // better
		finding("orphan", facts.Unknown, "b", ""),          // cannot be told any more
		finding("shared", facts.Yes, "/new", after),        // new and sound
	}
	unread := []namespaces.Unknown{{What: "process 7 (kubelet)", Why: "gone"}, {What: "the descriptors of process 8", Why: "permission denied"}}
	worst, unknown, kept := b.worse(document(now, unread, nil, 0))
	if kept != 1 {
		t.Errorf("%d problems as before, want that of /sys", kept)
	}
	if diff := cmp.Diff([]Finding{now[0], now[2], now[3], now[5]}, worst); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(unread[1:], unknown); diff != "" {
		t.Errorf("unknown (-want +got):\n%s", diff)
	}
}

// TestMoreOfAProblemIsWorse: a pile that grew is told with its number in the
// baseline, one that is as large or smaller is not; a limit that is as near as
// before, but for a few mounts, is not either.
func TestMoreOfAProblemIsWorse(t *testing.T) {
	size := func(f Finding, amount int) Finding {
		f.Amount = amount
		return f
	}
	pile, lone := finding(CodeDoubling, facts.No, "/run/x", "runtime"), finding(CodeStacked, facts.No, "/run/x", "runtime")
	near := finding(CodeMountMax, facts.No, "fs.mount-max", "runtime")
	far := finding(CodeMountMaxFar, facts.Yes, "fs.mount-max", "runtime")
	for name, test := range map[string]struct {
		before, now Finding
		want        bool
	}{
		"8 grow to 64":                      {size(pile, 8), size(pile, 64), true},
		"8 grow to 9, which is no doubling": {size(pile, 8), size(lone, 9), true},
		"8 are 8":                           {size(pile, 8), size(pile, 8), false},
		"16 shrink to 12":                   {size(pile, 16), size(lone, 12), false},
		"a baseline without a number":       {pile, size(pile, 64), true},
		"a table near its limit":            {size(near, 60000), size(near, 60400), false},
		"and nearer":                        {size(near, 60000), size(near, 66001), true},
		"a table far from it":               {size(far, 600), size(far, 900), false},
	} {
		b := baseline(t, []Finding{test.before}, nil, nil, 0)
		got, _, kept := b.worse(document([]Finding{test.now}, nil, nil, 0))
		if (len(got) == 1) != test.want || kept == 1 == (test.want || test.now.Answer == facts.Yes) {
			t.Errorf("%s: worse %v, %d as before", name, got, kept)
		}
	}
	b := baseline(t, []Finding{size(pile, 8)}, nil, nil, 0)
	if got, _, _ := b.worse(document([]Finding{size(pile, 64)}, nil, nil, 0)); len(got) != 1 || got[0].Message != "because; 8 in the baseline" {
		t.Errorf("%+v", got)
	}
}

// TestWhatGrewOnANodeIsTold: the checks say how much there is of what can grow.
func TestWhatGrewOnANodeIsTold(t *testing.T) {
	node := func(piled, volumes int) Document {
		mounts := sharedAll + stackOf(piled, 1000, 30, "0:60 / /run/x rw shared:9 - tmpfs x rw") + volumesOf(volumes)
		s := ordinary(mounts).with(map[string]string{"/proc/sys/fs/mount-max": "300\n"}).snapshot(t)
		return Run(t.Context(), s, []Check{{"doubling", checkDoubling}, {"mount-max", checkMountMax}}).Document(s)
	}
	before := node(8, 160)
	b := baseline(t, before.Findings, before.Unknown, nil, 0)
	for name, test := range map[string]struct {
		now  Document
		want []string
	}{
		"nothing":            {node(8, 160), []string{}},
		"the pile":           {node(16, 152), []string{"no doubling /run/x"}},
		"the table":          {node(8, 200), []string{"no mount-max fs.mount-max"}},
		"the table a little": {node(8, 165), []string{}},
		"both":               {node(32, 200), []string{"no mount-max fs.mount-max", "no doubling /run/x"}},
	} {
		got, _, kept := b.worse(document(test.now.Findings, test.now.Unknown, nil, 0))
		if diff := cmp.Diff(test.want, brief(got)); diff != "" || kept != 2-len(got) {
			t.Errorf("%s grew: %d as before (-want +got):\n%s", name, kept, diff)
		}
	}
}

// TestTheWorstOfTwoAnswersIsKept: the same code can be of several mounts at one
// path.
func TestTheWorstOfTwoAnswersIsKept(t *testing.T) {
	no, yes := finding("c", facts.No, "s", ""), finding("c", facts.Yes, "s", "")
	for _, order := range [][]Finding{{no, yes}, {yes, no}} {
		if worst, _, _ := baseline(t, order, nil, nil, 0).worse(document([]Finding{no}, nil, nil, 0)); len(worst) != 0 {
			t.Errorf("a problem that was there is new: %v", worst)
		}
	}
}

// TestWhatIsNoBaseline: nothing is compared with what knows nothing.
func TestWhatIsNoBaseline(t *testing.T) {
	good := string(report(t, []Finding{finding("c", facts.No, "s", "")}, nil, nil, 3))
	if _, err := ReadBaseline([]byte(good)); err != nil {
		t.Errorf("a report: %v", err)
	}
	for name, test := range map[string]struct{ text, want string }{
		"nothing":              {"", "not the JSON of a report (doctor -o json): EOF"},
		"a table":              {"PROBLEM not-shared", "not the JSON of a report"},
		"half a report":        {good[:len(good)-2], "not the JSON of a report"},
		"two reports":          {good + good, "more than one JSON value"},
		"no schema":            {`{"findings": [], "unknown": [], "containers": 0}`, `its schema is ""`},
		"another verb's":       {strings.Replace(good, Schema, "mountward.volumes/v1", 1), `its schema is "mountward.volumes/v1", not "mountward.doctor/v1"`},
		"a later schema":       {strings.Replace(good, Schema, "mountward.doctor/v2", 1), "its schema is"},
		"no findings":          {`{"schema": "` + Schema + `", "unknown": [], "containers": 0}`, "it has not all of them"},
		"no containers":        {`{"schema": "` + Schema + `", "unknown": [], "findings": []}`, "it has not all of them"},
		"findings of a word":   {`{"schema": "` + Schema + `", "unknown": [], "findings": "none"}`, "not the JSON of a report"},
		"a negative amount":    {strings.Replace(good, `"answer"`, `"amount":-1,"answer"`, 1), "finding 0: the amount -1"},
		"an unknown answer":    {strings.Replace(good, `"no"`, `"maybe"`, 1), `finding 0: code "c", answer "maybe"`},
		"a finding of no code": {strings.Replace(good, `"c"`, `""`, 1), `finding 0: code ""`},
		"of one pod":           {strings.Replace(good, `"schema"`, `"pod": "web-0", "schema"`, 1), "made with --pod or --baseline"},
		"of a comparison":      {strings.Replace(good, `"schema"`, `"baseline": "f", "schema"`, 1), "made with --pod or --baseline"},
	} {
		_, err := ReadBaseline([]byte(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

// TestSubjectsThatAreNotUTF8AreRecognised: as the report writes them.
func TestSubjectsThatAreNotUTF8AreRecognised(t *testing.T) {
	text := `{"schema": "` + Schema + `", "unknown": [{"what_b64": "/w==", "why": "x"}], "containers": 0, "findings": [{"code": "c", "answer": "no", "subject_b64": "L/8="}]}`
	b, err := ReadBaseline([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	worst, unread, _ := b.worse(document([]Finding{finding("c", facts.No, "/\xff", "")}, []namespaces.Unknown{{What: "\xff"}}, nil, 0))
	if len(worst) != 0 || len(unread) != 0 {
		t.Errorf("what was there is new: %v %v", worst, unread)
	}
	if _, err := ReadBaseline([]byte(strings.Replace(text, "L/8=", "%", 1))); err == nil || !strings.Contains(err.Error(), "finding 0: illegal base64") {
		t.Errorf("what is no base64: %v", err)
	}
}

// TestAPlaceIsTheSameAfterAReboot: numbers of processes and namespaces are not
// part of it, brackets that others chose are.
func TestAPlaceIsTheSameAfterAReboot(t *testing.T) {
	for where, want := range map[string]string{
		"": "",
		"runtime containerd[812] mnt:[4026531841]": "runtime containerd mnt:",
		"pid 1 systemd[1] mnt:[1]":                 "pid 1 systemd mnt:",
		"a[b[1]":                                   "a[b",
		"a[]":                                      "a[]",
		"a[1":                                      "a[1",
		"[x] [2]":                                  "[x] ",
	} {
		if got := stable(where); got != want {
			t.Errorf("%q: %q, want %q", where, got, want)
		}
	}
}

// TestGrowthIsTold: M87, the figures of four cycles, and what is no growth.
func TestGrowthIsTold(t *testing.T) {
	size := func(mounts int) []Size {
		return []Size{{Role: RoleInit, PID: 1, Inode: 7, Mounts: mounts, Types: map[string]int{"overlay": mounts - 20, "tmpfs": 20}}}
	}
	for _, test := range []struct {
		name          string
		before, after int
		added         int
		want          facts.Truth
	}{
		{"the first cycle", 270, 544, 0, facts.No},
		{"the second", 544, 885, 0, facts.No},
		{"the third", 885, 1216, 0, facts.No},
		{"as many as before", 270, 270, 0, facts.Yes},
		{"fewer", 544, 270, 0, facts.Yes},
		{"some more", 270, 369, 0, facts.Yes},
		{"with as many containers more", 270, 544, 30, facts.Yes},
		{"with few containers more", 270, 544, 5, facts.No},
		{"with fewer containers", 270, 544, -50, facts.No},
		{"little beside what is there", 30000, 30500, 0, facts.Yes},
		{"a doubling of a large table", 30000, 60000, 0, facts.No},
	} {
		b := baseline(t, nil, nil, size(test.before), 100)
		got, _, _ := b.worse(document(nil, nil, size(test.after), 100+test.added))
		if len(got) != 1 || got[0].Answer != test.want || len(got[0].Evidence) == 0 {
			t.Errorf("%s: %+v, want one finding with %v", test.name, got, test.want)
		}
	}
	got, _, _ := baseline(t, nil, nil, size(270), 0).worse(document(nil, nil, size(544), 0))
	want := Finding{
		Code: CodeGrowth, Answer: facts.No, Subject: "mount table of pid 1",
		Message:  "544 mounts, 270 in the baseline, with +0 containers",
		Evidence: []Evidence{{Text: "544 mounts", Show: "wc -l /proc/1/mountinfo"}},
		Cause:    "what grew: overlay +274",
		Amount:   544,
	}
	if diff := cmp.Diff([]Finding{want}, got, cmpopts.IgnoreFields(Finding{}, "Effect", "Fixes")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestATableThatIsNotReadHasNotShrunk: whether it has grown cannot be told. Of
// one that the baseline does not know there is nothing to compare.
func TestATableThatIsNotReadHasNotShrunk(t *testing.T) {
	read := []Size{{Role: RoleKubelet, Inode: 7, Mounts: 9, Types: map[string]int{"tmpfs": 9}}}
	unread := []Size{{Role: RoleKubelet, Why: "permission denied"}}
	got, _, _ := baseline(t, nil, nil, read, 0).worse(document(nil, nil, unread, 0))
	if len(got) != 1 || got[0].Answer != facts.Unknown || got[0].Message != "whether it has grown: permission denied" {
		t.Errorf("read before: %+v", got)
	}
	for name, test := range map[string]struct{ before, after []Size }{
		"read now": {unread, read}, "never read": {unread, unread}, "not in the baseline": {nil, read},
	} {
		if got, _, _ := baseline(t, nil, nil, test.before, 0).worse(document(nil, nil, test.after, 0)); len(got) != 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestANamespaceGrowsOnce, whoever is in it.
func TestANamespaceGrowsOnce(t *testing.T) {
	sizes := func(mounts int) []Size {
		types := map[string]int{"overlay": mounts}
		return []Size{{Role: RoleInit, Inode: 7, Mounts: mounts, Types: types}, {Role: RoleRuntime, Inode: 7, Mounts: mounts, Types: types}, {Role: RoleKubelet, Inode: 8, Mounts: mounts, Types: types}}
	}
	got, _, _ := baseline(t, nil, nil, sizes(200), 0).worse(document(nil, nil, sizes(900), 0))
	if len(got) != 2 || got[0].Subject != "mount table of pid 1" || got[1].Subject != "mount table of kubelet" {
		t.Errorf("%+v", got)
	}
}

// FuzzReadBaseline: what is accepted finds nothing new in itself.
func FuzzReadBaseline(f *testing.F) {
	f.Add([]byte(`{"schema": "mountward.doctor/v1", "findings": [{"code": "c", "answer": "no", "subject": "s"}], "unknown": [], "containers": 0}`))
	f.Add([]byte(`{"schema": "mountward.doctor/v1", "findings": [], "unknown": [{"what": "x"}], "places": [{"role": "pid 1", "mounts": 3, "types": {"a": 3}}], "containers": 2}`))
	f.Add([]byte(`{`))
	f.Fuzz(func(t *testing.T, text []byte) {
		b, err := ReadBaseline(text)
		if err != nil {
			return
		}
		var findings []Finding
		for k, known := range b.known {
			if stable(k.where) != k.where {
				return // a place that no report names so
			}
			findings = append(findings, Finding{Code: k.code, Subject: k.subject, Where: k.where, Answer: known.answer, Amount: known.amount})
		}
		var unknown []namespaces.Unknown
		for what := range b.unknown {
			unknown = append(unknown, namespaces.Unknown{What: what})
		}
		worst, unread, _ := b.worse(document(findings, unknown, nil, b.containers))
		if len(worst) > 0 || len(unread) > 0 {
			t.Errorf("new in itself: %v %v", worst, unread)
		}
	})
}
