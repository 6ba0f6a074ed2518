package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/hostview"
)

// TestATableIsReadUntilItHasSettled: once where nothing has changed meanwhile,
// again where something has or that cannot be told, and never for ever.
func TestATableIsReadUntilItHasSettled(t *testing.T) {
	const a, b = sharedAll, sharedAll + "90 25 0:90 / /x rw - tmpfs t rw\n"
	still := func(int) (bool, error) { return false, nil }
	moves := func(int) (bool, error) { return true, nil }
	for name, test := range map[string]struct {
		texts    []string // of the readings, the last for all that follow
		changed  func(reading int) (bool, error)
		readings int
		want     string
	}{
		"nothing changes":                       {[]string{a, b}, still, 1, a},
		"it changes in the first reading":       {[]string{a, b}, func(n int) (bool, error) { return n == 1, nil }, 2, b},
		"it changes and is as it was":           {[]string{a}, moves, 2, a},
		"it is not told whether it changes":     {[]string{a}, func(int) (bool, error) { return false, errors.New("no poll") }, 2, a},
		"a line is dropped in the first":        {[]string{a, b}, moves, 3, b},
		"it never settles":                      {[]string{a, b, a, b, a, b}, moves, mostReadings, b},
		"it settles in the last that there are": {[]string{a, b, a, b}, func(n int) (bool, error) { return n < mostReadings, nil }, mostReadings, b},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			table, err := settle(func() (*hostview.Table, error) {
				text := test.texts[min(n, len(test.texts)-1)]
				n++
				return hostview.ReadTable(strings.NewReader(text))
			}, func() (bool, error) { return test.changed(n) })
			if err != nil || n != test.readings || table.Len() != strings.Count(test.want, "\n") {
				t.Errorf("%d readings, %d mounts, %v; want %d of %q", n, table.Len(), err, test.readings, test.want)
			}
		})
	}
}

// TestATableThatCannotBeReadIsNoTable, and a file is one that never changes.
func TestATableThatCannotBeReadIsNoTable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mountinfo")
	if _, err := settled(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	for text, want := range map[string]int{sharedAll: strings.Count(sharedAll, "\n"), "25 torn": -1} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		table, err := settled(file)
		if err == nil {
			if got := table.Len(); got != want {
				t.Errorf("%q: %d mounts", text, got)
			}
		} else if want >= 0 || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v", text, err)
		}
	}
	table, err := settled("/proc/self/mountinfo")
	if err != nil || table.Len() == 0 {
		t.Errorf("the own table: %v", err)
	}
}
