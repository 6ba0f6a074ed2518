package lint

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/policy"
)

var update = flag.Bool("update", false, "write the golden file")

func fixtures(t testing.TB, dir string) map[string]*policy.Policy {
	t.Helper()
	files, err := filepath.Glob("testdata/" + dir + "/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files (%v)", len(files), err)
	}
	all := map[string]*policy.Policy{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := policy.Parse(policy.File{Name: filepath.Base(file), Data: data})
		if err != nil {
			t.Fatal(err)
		}
		all[file] = p
	}
	return all
}

// Every file of testdata/lint has exactly the findings of lint.golden, and at
// least one.
func TestLintFindsWhatIsNotMeant(t *testing.T) {
	all := fixtures(t, "lint")
	if len(all) < 48 {
		t.Fatalf("%d files, some are lost", len(all))
	}
	var text strings.Builder
	for _, file := range slices.Sorted(maps.Keys(all)) {
		findings := Check(all[file], Options{})
		if len(findings) == 0 {
			t.Errorf("%s: nothing is found", file)
		}
		for _, f := range findings {
			fmt.Fprintln(&text, f)
		}
	}
	const golden = "testdata/lint.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
}

// What looks alike and is meant is left alone.
func TestLintLeavesAloneWhatIsMeant(t *testing.T) {
	all := fixtures(t, "clean")
	if len(all) < 25 {
		t.Fatalf("%d files, some are lost", len(all))
	}
	for _, file := range slices.Sorted(maps.Keys(all)) {
		for _, f := range Check(all[file], Options{}) {
			t.Errorf("%v", f)
		}
	}
}
