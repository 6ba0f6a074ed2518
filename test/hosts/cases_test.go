package hosts_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/mountward/mountward/pkg/doctor"
	"github.com/mountward/mountward/pkg/facts"
)

// TestEveryCaseIsThere: the public reports about hosts, services with a mount
// namespace of their own, storms of mounts and the kubelet's root; two healthy
// hosts at least, and four layouts that nobody captured.
func TestEveryCaseIsThere(t *testing.T) {
	synthetic := 0
	var names []string
	for _, file := range archives(t) {
		names = append(names, filepath.Base(file))
		if strings.Contains(string(read(t, file).Comment), "synthetic") {
			synthetic++
		}
	}
	for _, n := range []int{
		1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 14, 15, 17, 18, 20,
		42, 44, 45, 47,
		77, 78, 79, 81, 83, 84, 86, 87, 89,
		91, 92, 94, 95, 97, 99, 117,
	} {
		prefix := fmt.Sprintf("m%02d-", n)
		if !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, prefix) }) {
			t.Errorf("no node %s*", prefix)
		}
	}
	if synthetic < 4 {
		t.Errorf("%d synthetic layouts", synthetic)
	}
}

// TestAllAnswersAreWanted: yes, no and cannot tell, as findings and as exit
// codes.
func TestAllAnswersAreWanted(t *testing.T) {
	answers, exits := map[string]int{}, map[int]int{}
	for _, file := range archives(t) {
		w := wantOf(t, read(t, file))
		exits[w.Exit]++
		for _, one := range w.Finding {
			answers[one.Answer]++
		}
	}
	for _, answer := range []facts.Truth{facts.Yes, facts.No, facts.Unknown} {
		if answers[answer.String()] == 0 || exits[exit(answer)] == 0 {
			t.Errorf("no node with the answer %v: %v %v", answer, answers, exits)
		}
	}
}

// TestWhatIsWantedIsCompared: each part of a wanted finding can be missing.
func TestWhatIsWantedIsCompared(t *testing.T) {
	f := doctor.Finding{
		Code: "c", Answer: facts.No, Subject: "s", Where: "w", Message: "m", Cause: "why", Effect: "e",
		Evidence: []doctor.Evidence{{Text: "line", Show: "cat"}}, Fixes: []doctor.Fix{{Commands: []string{"mend it"}}}, Containers: []string{"pod"},
	}
	good := wanted{Code: "c", Answer: "no", Subject: "s", Where: "w", Message: "m", Cause: "why", Effect: "e", Evidence: []string{"line", "cat"}, Fix: []string{"mend"}, Containers: []string{"pod"}}
	if !good.matches(f) || !(wanted{Code: "c", Answer: "no"}).matches(f) {
		t.Errorf("not found: no %s", good.missing(f))
	}
	for part, spoil := range map[string]func(*wanted){
		"code":            func(w *wanted) { w.Code = "d" },
		"answer":          func(w *wanted) { w.Answer = "yes" },
		"subject":         func(w *wanted) { w.Subject = "ss" },
		"where":           func(w *wanted) { w.Where = "x" },
		"message":         func(w *wanted) { w.Message = "x" },
		"cause":           func(w *wanted) { w.Cause = "x" },
		"effect":          func(w *wanted) { w.Effect = "x" },
		"evidence x":      func(w *wanted) { w.Evidence = []string{"line", "x"} },
		"fix x":           func(w *wanted) { w.Fix = []string{"x"} },
		"containers pod2": func(w *wanted) { w.Containers = []string{"pod2"} },
	} {
		bad := good
		spoil(&bad)
		if got := bad.missing(f); got != part {
			t.Errorf("without %s: %q", part, got)
		}
	}
}

// TestACaptureIsANode: what capture prints of this machine can be examined, and
// is on the mounts that this machine has.
func TestACaptureIsANode(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "sh", "capture").Output()
	if err != nil {
		t.Fatal(err)
	}
	archive := txtar.Parse(out)
	d := examine(t, archive.Files, wantOf(t, archive))
	i := slices.IndexFunc(d.Findings, func(f doctor.Finding) bool {
		return f.Subject == d.Kubelet.Root && len(f.Evidence) > 0 && f.Code != doctor.CodeKubeletRoot
	})
	if i < 0 {
		t.Fatalf("no finding about %s: %+v", d.Kubelet.Root, d.Findings)
	}
	id, _, _ := strings.Cut(d.Findings[i].Evidence[0].Text, " ")
	if !slices.ContainsFunc(archive.Files, func(f txtar.File) bool {
		return strings.HasPrefix(f.Name, "mountinfo/") && strings.Contains("\n"+string(f.Data), "\n"+id+" ")
	}) {
		t.Errorf("no captured table has the mount %s: %s", id, summary(d.Findings[i]))
	}
}
