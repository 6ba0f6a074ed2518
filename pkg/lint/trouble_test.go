package lint

import (
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// TestThreePublishedWaysIntoTrouble of policies about mounts: a misspelled
// selector that widens its rule, a directory above the one that is guarded,
// spelled with ".." or through a link, and rshared spelled shared.
func TestThreePublishedWaysIntoTrouble(t *testing.T) {
	t.Run("a misspelled selector", func(t *testing.T) {
		_, err := policy.Parse(policy.File{Name: "p.toml", Data: []byte(head + "[[rule]]\nname = \"a\"\nmatch.namespace = [\"kube-system\"]\nmatch.sorce = [\"/data\"]\naction = \"allow\"\n")})
		const want = `p.toml:7:7: unknown key "rule.match.sorce": did you mean "source"?`
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	})
	t.Run("a directory above", func(t *testing.T) {
		const rule = "[[rule]]\nname = \"keys\"\nreason = \"r\"\naction = \"deny\"\nmatch.source = "
		_, err := policy.Parse(policy.File{Name: "p.toml", Data: []byte(head + rule + `["/var/lib/keys/.."]`)})
		const want = `p.toml:8:17: glob "/var/lib/keys/.." has a "..": write the path it leads to`
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		open, closed := head+rule+`["/var/lib/keys/**"]`, head+rule+`["/", "/var", "/var/lib", "/var/lib/keys/**"]`
		if got := codes(t, open); len(got) != 1 || got[0] != facts.LintWayAround {
			t.Errorf("of the open policy lint finds %v", got)
		}
		if got := codes(t, closed); len(got) > 0 {
			t.Errorf("of the closed policy lint finds %v", got)
		}
		lib := &facts.HostMount{Canonical: "/var/lib", MountPoint: "/", Root: "/", Device: facts.DeviceNumber{Major: 8}}
		for name, m := range map[string]facts.Mount{
			"as it is":          {Source: "/var/lib"},
			"with dots":         {Source: "/var/lib/keys/.."},
			"with more":         {Source: "/srv//../var/./lib/keys/../"},
			"through a link":    {Source: "/srv/link", Host: lib},
			"the root":          {Source: "/var/lib/../.."},
			"mounted elsewhere": {Source: "/mnt/lib", Host: &facts.HostMount{Canonical: "/mnt/lib", MountPoint: "/mnt/lib", Root: "/var/lib", Device: lib.Device}},
		} {
			m.Type, m.Destination = "bind", "/x"
			env := policy.Env{Prefixes: map[string]facts.HostMount{"/var/lib": *lib}}
			c := facts.Container{Mounts: []facts.Mount{m}}
			if d := parse(t, open).Decide(c, env, false)[0]; d.Action != facts.ActionAllow {
				t.Errorf("%s: the open policy: %s, there is no way around", name, d.Action)
			}
			if d := parse(t, closed).Decide(c, env, false)[0]; d.Action != facts.ActionDeny {
				t.Errorf("%s: %s", name, d.Action)
			}
		}
	})
	t.Run("rshared spelled shared", func(t *testing.T) {
		text := head + "[[rule]]\nname = \"a\"\nreason = \"r\"\nmatch.propagation = [\"shared\"]\naction = \"deny\"\n"
		if got := codes(t, text); len(got) > 0 {
			t.Errorf("findings %v", got)
		}
		for _, options := range [][]string{{"rbind", "rshared"}, {"bind", "shared"}, {"rshared", "rbind", "shared"}} {
			c := facts.Container{Mounts: []facts.Mount{{Source: "/x", Destination: "/x", Type: "bind", Options: options}}}
			if d := parse(t, text).Decide(c, policy.Env{}, false)[0]; d.Action != facts.ActionDeny {
				t.Errorf("%v: %s", options, d.Action)
			}
		}
		_, err := policy.Parse(policy.File{Name: "p.toml", Data: []byte(strings.Replace(text, `"shared"`, `"rshared"`, 1))})
		const want = `p.toml:7:22: write "shared", not "rshared": a kind includes its recursive form`
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	})
}
