package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policyfile"
	"github.com/mountward/mountward/pkg/policytest"
)

const examplesDir = "../../config/examples"

// examples returns the shipped examples: those that are whole policies, and the
// drop-ins, which have no version.
func examples(t *testing.T) (whole, dropIns []string) {
	t.Helper()
	all, err := filepath.Glob(examplesDir + "/*.toml")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d examples, %v", len(all), err)
	}
	for _, name := range all {
		switch {
		case strings.HasSuffix(name, policytest.Suffix):
		case strings.Contains(text(t, name), "\nversion"):
			whole = append(whole, name)
		default:
			dropIns = append(dropIns, name)
		}
	}
	return whole, dropIns
}

func text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// without returns the drop-ins but the one of that name.
func without(t *testing.T, dropIns []string, name string) []string {
	t.Helper()
	rest := slices.DeleteFunc(slices.Clone(dropIns), func(f string) bool { return filepath.Base(f) == name })
	if len(rest) == len(dropIns) {
		t.Fatalf("no example is %s", name)
	}
	return rest
}

// TestEveryExampleSaysForWhomItIs: whom, what it does, and how it is taken into
// use; has tests; and the owner of a mount that it decides about reads why.
func TestEveryExampleSaysForWhomItIs(t *testing.T) {
	t.Parallel()
	whole, dropIns := examples(t)
	for _, name := range append(whole, dropIns...) {
		main := name
		var added []string
		if slices.Contains(dropIns, name) {
			main, added = filepath.Join(examplesDir, "main.toml"), []string{name}
		}
		p, _, err := policyfile.LoadWith(main, added)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, r := range p.Rules {
			if r.Action != facts.ActionAudit && r.Reason == "" {
				t.Errorf("%s: rule %q decides and has no reason", r.Position, r.Name)
			}
		}
		if filepath.Base(name) == "main.toml" { // has no rule; the others' tests are its tests
			continue
		}
		for _, want := range []string{"#   changes ", "#   refuses ", "#   records ", "# Into use: "} {
			if !strings.Contains(text(t, name), want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
		if _, err := os.Stat(strings.TrimSuffix(name, ".toml") + policytest.Suffix); err != nil {
			t.Errorf("an example without tests: %v", err)
		}
	}
}

// TestTheExamplesHaveNoFindings: alone, and the drop-ins all together. Beside the
// built-in policy, which has a rule of its own about CSI drivers, there is the one
// that its comment tells how to mend: the first drop-in that refuses needs the
// namespaces of the drivers.
func TestTheExamplesHaveNoFindings(t *testing.T) {
	t.Parallel()
	whole, dropIns := examples(t)
	main := filepath.Join(examplesDir, "main.toml")
	check := func(want []string, main string, dropIns ...string) {
		args := []string{"check", "--strict", main}
		for _, name := range dropIns {
			args = append(args, "--drop-in", name)
		}
		var out, errs bytes.Buffer
		code := Execute(t.Context(), Program{Args: args, Stdout: &out, Stderr: &errs})
		var got []string
		for _, found := range regexp.MustCompile(`: (MW2\d\d): rule ("[^"]+")`).FindAllStringSubmatch(errs.String(), -1) {
			got = append(got, found[1]+" "+found[2])
		}
		if diff := cmp.Diff(want, got); diff != "" || code != ExitYes && len(want) == 0 {
			t.Errorf("%q: exit code %d, findings (-want +got):\n%s%s%s", args, code, diff, &out, &errs)
		}
	}
	for _, name := range whole {
		check(nil, name)
	}
	for _, name := range dropIns {
		check(nil, main, name)
	}
	check(nil, main, dropIns...)
	check([]string{`MW209 "csi-node-drivers"`}, "../../config/policy.toml", without(t, dropIns, "csi-node-drivers.toml")...)
}

// TestTheExamplesTogetherBreakNothing: in no main file do the drop-ins break a
// workload, each alone or all of them.
func TestTheExamplesTogetherBreakNothing(t *testing.T) {
	t.Parallel()
	whole, dropIns := examples(t)
	table, err := readTable(filepath.Join(examplesDir, "workloads.csv"), policytest.DefaultHost())
	if err != nil {
		t.Fatal(err)
	}
	tried := func(main string, added ...string) {
		p, _, err := policyfile.LoadWith(main, added)
		if err != nil {
			t.Errorf("%s with %q: %v", main, added, err)
			return
		}
		var count tally
		for _, e := range table.Effects(p, judgeTest) {
			count.add(e)
			if e.Breaks != "" {
				t.Errorf("%s with %q breaks %s: %s", main, added, e.Workload, e.Breaks)
			}
		}
		t.Logf("%s and %d drop-ins %.60q: of %d containers %d changed (%d mounts raised), %d refused, %d broken", filepath.Base(main), len(added), added,
			table.Containers(), count.changed, count.raised, count.refused, count.broken)
	}
	for _, main := range append(whole, "../../config/policy.toml") {
		tried(main)
		tried(main, dropIns...)
	}
	for _, name := range dropIns {
		tried(filepath.Join(examplesDir, "main.toml"), name)
	}
}

// tally counts effects.
type tally struct{ changed, raised, refused, broken int }

func (s *tally) add(e policytest.Effect) {
	s.changed++
	for _, c := range e.Changes {
		if c.Kind == policytest.Raised {
			s.raised++
		}
	}
	if e.Refused {
		s.refused++
	}
	if e.Breaks != "" {
		s.broken++
	}
}
