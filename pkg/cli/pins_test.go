package cli

import (
	"errors"
	"testing"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/pins"
	"github.com/mountward/mountward/pkg/target"
)

// TestTheExitCodeOfPins: what was found counts, and what cannot be told is no
// "nothing", with --all as well.
func TestTheExitCodeOfPins(t *testing.T) {
	volume := target.Target{Superblocks: []target.Superblock{{Device: facts.DeviceNumber{Major: 253, Minor: 7}}}}
	free := pins.Report{Target: volume, Alive: facts.Is(false, "")}
	hidden := pins.Report{Target: volume, Alive: facts.Is(true, "")} // alive, and nothing was found
	held := pins.Report{Target: volume, Alive: facts.Is(true, ""), Holders: []pins.Holder{{Kind: pins.KindMount, Use: pins.UseCopy}}}
	unclear := pins.Report{Target: volume, Alive: facts.Is(true, ""), Holders: []pins.Holder{{Kind: pins.KindMount, Use: pins.UseUnclear}}}
	used := pins.Report{Target: volume, Alive: facts.Is(true, ""), Holders: []pins.Holder{{Kind: pins.KindMount, User: true}}}
	for name, test := range map[string]struct {
		reports  []pins.Report
		unknown  int
		one, all int
	}{
		"nothing holds it":                    {[]pins.Report{free}, 0, ExitYes, ExitYes},
		"a pod uses it":                       {[]pins.Report{used}, 0, ExitNo, ExitYes},
		"it is pinned":                        {[]pins.Report{held}, 0, ExitNo, ExitNo},
		"it is pinned and not all is known":   {[]pins.Report{held}, 1, ExitNo, ExitNo},
		"something must hold it":              {[]pins.Report{free, hidden}, 0, ExitCannotTell, ExitCannotTell},
		"a pod that may be there":             {[]pins.Report{unclear}, 0, ExitNo, ExitCannotTell},
		"nothing was found and not all known": {[]pins.Report{free}, 1, ExitCannotTell, ExitCannotTell},
	} {
		for all, want := range map[bool]int{false: test.one, true: test.all} {
			x := pinned{reports: test.reports, unknown: make([]namespaces.Unknown, test.unknown)}
			var p show.Pins
			for i := range x.reports {
				if !all || x.reports[i].Pinned() != facts.No {
					p.Reports = append(p.Reports, x.reports[i])
				}
			}
			got := ExitYes
			var e *exit
			if err := (&pinsOptions{all: all}).verdict(x, p, test.unknown); errors.As(err, &e) {
				got = e.code
			}
			if got != want {
				t.Errorf("%s, all %t: exit code %d, want %d", name, all, got, want)
			}
		}
	}
}
