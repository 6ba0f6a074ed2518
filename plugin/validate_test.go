package main

import (
	"strings"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

func factsBind(destination, source string, options ...string) facts.Mount {
	return facts.Mount{Destination: destination, Source: source, Type: "bind", Options: append([]string{"rbind"}, options...)}
}

func apiBind(destination, source string, options ...string) *api.Mount {
	return &api.Mount{Destination: destination, Source: source, Type: "bind", Options: append([]string{"rbind"}, options...)}
}

func removal(destination string) *api.Mount {
	return &api.Mount{Destination: api.MarkForRemoval(destination)}
}

// TestFinalMounts is what the runtime makes of the pristine list and the
// changes of all plugins together.
func TestFinalMounts(t *testing.T) {
	pristine := []facts.Mount{
		factsBind("/a", "/s/a", "rprivate"),
		{Destination: "/proc", Type: "proc", Source: "proc"},
		factsBind("/b", "/s/b", "rshared"),
		factsBind("/b/", "/s/b2", "rprivate"),
	}
	tests := []struct {
		name   string
		adjust []*api.Mount
		want   []facts.Mount
	}{
		{"nothing", nil, pristine},
		{
			"replaced",
			[]*api.Mount{removal("/a"), apiBind("/a", "/s/a", "rslave")},
			[]facts.Mount{pristine[1], pristine[2], pristine[3], factsBind("/a", "/s/a", "rslave")},
		},
		{
			"added over an existing one",
			[]*api.Mount{apiBind("/a", "/other", "rshared")},
			[]facts.Mount{pristine[1], pristine[2], pristine[3], factsBind("/a", "/other", "rshared")},
		},
		{
			"removed",
			[]*api.Mount{removal("/a")},
			[]facts.Mount{pristine[1], pristine[2], pristine[3]},
		},
		{
			"by exact destination",
			[]*api.Mount{removal("/b/"), apiBind("/b/", "/s/b2", "rslave")},
			[]facts.Mount{pristine[0], pristine[1], pristine[2], factsBind("/b/", "/s/b2", "rslave")},
		},
		{
			"new ones",
			[]*api.Mount{apiBind("/c", "/s/c", "rshared"), {Destination: "/t", Type: "tmpfs", Source: "tmpfs"}},
			append(append([]facts.Mount{}, pristine...), factsBind("/c", "/s/c", "rshared"), facts.Mount{Destination: "/t", Type: "tmpfs", Source: "tmpfs"}),
		},
		{
			"removed, and never there", []*api.Mount{removal("/none")}, pristine,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, finalMounts(pristine, test.adjust)); diff != "" {
				t.Errorf("mounts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUndone finds a change of ours that the final list does not have, and
// nothing that we did not change.
func TestUndone(t *testing.T) {
	applied := facts.Outcome{
		Mount: factsBind("/a", "/s/a", "rprivate"), Asked: facts.Private, Decided: facts.Slave,
		Result: facts.Applied, Rule: "follow", Position: "policy.toml:7",
	}
	left, would := applied, applied
	left.Result, left.Decided = facts.Left, facts.Private
	would.Would = true
	lowered := applied
	lowered.Decided = facts.Private
	tests := []struct {
		name    string
		outcome facts.Outcome
		final   []facts.Mount
		want    string // "" for no problem
	}{
		{"there", applied, []facts.Mount{factsBind("/a", "/s/a", "rslave")}, ""},
		{"there, not recursive", applied, []facts.Mount{factsBind("/a", "/s/a", "slave", "ro")}, ""},
		{"as it was", applied, []facts.Mount{factsBind("/a", "/s/a", "rprivate")}, "is rprivate in the final list"},
		{"raised further", applied, []facts.Mount{factsBind("/a", "/s/a", "rshared")}, "is rshared in the final list"},
		{"a word appended", applied, []facts.Mount{factsBind("/a", "/s/a", "rslave", "rprivate")}, "is rprivate in the final list"},
		{"without a word", applied, []facts.Mount{factsBind("/a", "/s/a")}, "is without a propagation word in the final list"},
		{"removed", applied, []facts.Mount{factsBind("/b", "/s/a", "rslave")}, "is missing in the final list"},
		{"only the same place", applied, []facts.Mount{factsBind("/a/", "/s/a", "rslave")}, "is missing in the final list"},
		{"a lowering undone", lowered, []facts.Mount{factsBind("/a", "/s/a", "rshared")}, "set to rprivate"},
		{"a lowering kept", lowered, []facts.Mount{factsBind("/a", "/s/a", "rprivate")}, ""},
		{"we left it", left, []facts.Mount{factsBind("/a", "/s/a", "rshared")}, ""},
		{"audit mode", would, []facts.Mount{factsBind("/a", "/s/a", "rprivate")}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := undone([]facts.Outcome{left, test.outcome}, test.final)
			if test.want == "" {
				if p != nil {
					t.Errorf("problem = %q, want none", p.text)
				}
				return
			}
			if p == nil {
				t.Fatalf("no problem, want %q", test.want)
			}
			for _, want := range []string{test.want, "mount /a ", `rule "follow"`, "policy.toml:7"} {
				if !strings.Contains(p.text, want) {
					t.Errorf("problem = %q, want %q in it", p.text, want)
				}
			}
			if p.destination != "/a" {
				t.Errorf("problem is about %s, want /a", p.destination)
			}
		})
	}
}

// TestOwner names the plugin that the runtime says made a mount.
func TestOwner(t *testing.T) {
	owners := api.NewOwningPlugins()
	if err := owners.ClaimMount("c", "/a", "95-other"); err != nil {
		t.Fatal(err)
	}
	req := &api.ValidateContainerAdjustmentRequest{Owners: owners}
	for destination, want := range map[string]string{"/a": "95-other", "/b": "unknown"} {
		if got := owner(req, "c", destination); got != want {
			t.Errorf("owner of %s = %s, want %s", destination, got, want)
		}
	}
	if got := owner(&api.ValidateContainerAdjustmentRequest{}, "c", "/a"); got != "unknown" {
		t.Errorf("owner without owners = %s, want unknown", got)
	}
}
