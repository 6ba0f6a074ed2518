package apply

import (
	"fmt"
	"strings"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

func adjusting(mounts ...facts.Mount) *api.ContainerAdjustment {
	adjust := &api.ContainerAdjustment{}
	for _, m := range mounts {
		adjust.RemoveMount(m.Destination)
		adjust.AddMount(&api.Mount{Destination: m.Destination, Source: m.Source, Type: m.Type, Options: m.Options})
	}
	return adjust
}

func spelled(s Specification) (all []string) {
	for _, m := range s.Mounts {
		all = append(all, fmt.Sprintf("%s %s %s", m.Destination, m.Source, strings.Join(m.Options, ",")))
	}
	return append(all, "root "+s.RootfsPropagation)
}

// TestAfterIsWhatTheRuntimeMakes of an adjustment: the mount replaced, all of them
// sorted, the root raised and never lowered.
func TestAfterIsWhatTheRuntimeMakes(t *testing.T) {
	z, a := mount("/z", "/s", nil, "rprivate"), mount("/a/b", "/s", nil, "rshared", "ro")
	tests := []struct {
		name   string
		before Specification
		adjust *api.ContainerAdjustment
		want   []string
	}{
		{"nothing", Specification{[]facts.Mount{a, z}, "rshared"}, nil, []string{"/a/b /s rbind,rshared,ro", "/z /s rbind,rprivate", "root rshared"}},
		{
			"raised",
			Specification{[]facts.Mount{a, z}, ""},
			adjusting(mount("/z", "/s", nil, "rslave")),
			[]string{"/z /s rbind,rslave", "/a/b /s rbind,rshared,ro", "root rslave"},
		},
		{
			"raised to rshared",
			Specification{[]facts.Mount{z}, "rslave"},
			adjusting(mount("/z", "/s", nil, "rshared")),
			[]string{"/z /s rbind,rshared", "root rshared"},
		},
		{
			"a slave beside a shared one",
			Specification{[]facts.Mount{z}, "rshared"},
			adjusting(mount("/z", "/s", nil, "rslave")),
			[]string{"/z /s rbind,rslave", "root rshared"},
		},
		{
			"lowered",
			Specification{[]facts.Mount{a, z}, "rshared"},
			adjusting(mount("/a/b", "/s", nil, "rprivate", "ro")),
			[]string{"/z /s rbind,rprivate", "/a/b /s rbind,rprivate,ro", "root rshared"},
		},
		{
			"of equal destinations the first goes",
			Specification{[]facts.Mount{mount("/z", "/1", nil, "rprivate"), mount("/z", "/2", nil, "rprivate")}, ""},
			adjusting(mount("/z", "/1", nil, "rslave")),
			[]string{"/z /2 rbind,rprivate", "/z /1 rbind,rslave", "root rslave"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := spelled(test.before)
			after, err := After(test.before, test.adjust, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, spelled(after)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, spelled(test.before)); diff != "" {
				t.Errorf("it changed what it was given (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAfterAgreesWithAndWithoutTheCheck: what is done in the generator's place where
// its check cannot be had is what it does, and the check is there where it can.
func TestAfterAgreesWithAndWithoutTheCheck(t *testing.T) {
	n := newNode(t)
	z := mount("/z", n.shared, nil, "rprivate")
	for _, root := range []string{"", "rslave", "rshared"} {
		for _, word := range []string{"rprivate", "rslave", "rshared"} {
			before := Specification{[]facts.Mount{z, mount("/a", n.private, nil, "rprivate")}, root}
			adjust := adjusting(mount("/z", n.shared, nil, word))
			checked, err := After(before, adjust, true)
			if err != nil {
				t.Fatal(err)
			}
			unchecked, err := After(before, adjust, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(spelled(checked), spelled(unchecked)); diff != "" {
				t.Errorf("root %q, %s (-checked +unchecked):\n%s", root, word, diff)
			}
		}
	}
	before := Specification{Mounts: []facts.Mount{mount("/z", n.private, nil, "rprivate")}}
	if _, err := After(before, adjusting(mount("/z", n.private, nil, "rslave")), true); err == nil || !strings.Contains(err.Error(), `mount propagation is ""`) {
		t.Errorf("a private source: %v", err)
	}
}

func TestPossibleIsWhatTheHostCanGive(t *testing.T) {
	outcome := func(m facts.Mount, decided facts.Propagation, result facts.Result) facts.Outcome {
		return facts.Outcome{Mount: m, Asked: m.Requested(), Decided: decided, Result: result}
	}
	left := outcome(mount("/d", "/p", &private, "rprivate"), facts.Private, facts.Left)
	left.Wanted, left.Reason = facts.Slave, "cannot be rslave: its host mount /p is private"
	unjudged := left
	unjudged.Reason = "cannot be rslave: " + whyUnjudged + "no table"
	unlooked := mount("/d", "/x", nil, "rslave")
	unlooked.HostWhy = "it does not answer"
	tests := []struct {
		name string
		o    facts.Outcome
		want facts.Truth
		why  string
	}{
		{"private of a private mount", outcome(mount("/d", "/p", &private, "rprivate"), facts.Private, facts.Unchanged), facts.Yes, "takes nothing"},
		{"no word", outcome(mount("/d", "/p", nil), facts.Unset, facts.Unchanged), facts.Yes, "asks nothing"},
		{"slave of a shared mount", outcome(mount("/d", "/s", &shared, "rslave"), facts.Slave, facts.Unchanged), facts.Yes, "/s is shared:5"},
		{"slave of a slave mount", outcome(mount("/d", "/m", &slaveOnly, "rslave"), facts.Slave, facts.Unchanged), facts.Yes, "/m is master:3"},
		{"slave of a private mount", outcome(mount("/d", "/p", &private, "rslave"), facts.Slave, facts.Unchanged), facts.No, "run: mount --make-rshared /p"},
		{"shared of a slave mount", outcome(mount("/d", "/m", &slaveOnly, "rshared"), facts.Shared, facts.Unchanged), facts.No, "sends nothing up"},
		{"set to what the host can give", outcome(mount("/d", "/s", &shared, "rprivate"), facts.Slave, facts.Applied), facts.Yes, "/s is shared:5"},
		{"left", left, facts.No, "/p is private"},
		{"left, since it could not be told", unjudged, facts.Unknown, "no table"},
		{"a source that was not resolved", outcome(unlooked, facts.Slave, facts.Unchanged), facts.Unknown, "it does not answer"},
		{"refused", outcome(mount("/d", "/s", &shared, "rshared"), facts.Shared, facts.Refused), facts.No, "refused"},
	}
	for _, test := range tests {
		if got := Possible(test.o); got.Truth != test.want || !strings.Contains(got.Why, test.why) {
			t.Errorf("%s: %v %q, want %v and %q", test.name, got.Truth, got.Why, test.want, test.why)
		}
	}
}
