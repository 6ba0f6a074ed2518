package policy

import (
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// The host of these tests: /data is a mount of 253:1; /link is a symbolic link
// to /data; /twin is another mount of the same superblock; /var/run is a link
// to /run.
func hostPath(p string) *facts.HostMount {
	root := facts.DeviceNumber{Major: 8, Minor: 1}
	data := facts.DeviceNumber{Major: 253, Minor: 1}
	run := facts.DeviceNumber{Minor: 24}
	switch {
	case facts.Within(p, "/link"):
		return hostPath(strings.Replace(p, "/link", "/data", 1))
	case facts.Within(p, "/var/run"):
		return hostPath(strings.TrimPrefix(p, "/var"))
	case facts.Within(p, "/data"):
		return &facts.HostMount{Canonical: p, MountPoint: "/data", Device: data, Root: "/"}
	case facts.Within(p, "/twin"):
		return &facts.HostMount{Canonical: p, MountPoint: "/twin", Device: data, Root: "/sub"}
	case facts.Within(p, "/run"):
		return &facts.HostMount{Canonical: p, MountPoint: "/run", Device: run, Root: "/"}
	default:
		return &facts.HostMount{Canonical: p, MountPoint: "/", Device: root, Root: "/"}
	}
}

func id(p string) facts.Identity { return hostPath(p).Identity() }

func TestSourceIsMatchedByIdentityNotSpelling(t *testing.T) {
	tests := map[string]struct {
		glob     string
		given    string
		host     string // what it is on the host, "" where not resolved
		actual   string // what is mounted at start, as a host path
		cold     bool   // the glob's prefix is not resolved
		deny     bool   // matches read leniently: deny, audit, except of allow
		allow    bool   // matches read strictly: allow, set, except of deny
		doubtful bool   // the strict reading is unknown
	}{
		"the path itself":                        {glob: "/data/**", given: "/data/x", host: "/data/x", deny: true, allow: true},
		"another path":                           {glob: "/data/**", given: "/etc", host: "/etc"},
		"a longer name":                          {glob: "/data/**", given: "/database", host: "/database"},
		"dot dot":                                {glob: "/data/**", given: "/etc/../data/x", host: "/data/x", deny: true, allow: true},
		"dot dot, not resolved":                  {glob: "/data/**", given: "/etc/../data/x", deny: true, allow: true},
		"a symbolic link into the glob":          {glob: "/data/**", given: "/link/x", host: "/data/x", deny: true, allow: true},
		"a symbolic link out of the glob":        {glob: "/data/**", given: "/data/evil", host: "/etc", deny: true},
		"a link whose target is not known":       {glob: "/data/**", given: "/link/x"},
		"a glob through a link":                  {glob: "/link/**", given: "/data/x", host: "/data/x", deny: true, allow: true},
		"a glob through a link, not resolved":    {glob: "/link/**", given: "/data/x", deny: true, allow: true},
		"a glob and a source through the link":   {glob: "/link/**", given: "/link/x", host: "/data/x", deny: true, allow: true},
		"a glob through a link, prefix is cold":  {glob: "/link/**", given: "/data/x", host: "/data/x", cold: true},
		"/var/run for /run":                      {glob: "/run/**", given: "/var/run/x", host: "/run/x", deny: true, allow: true},
		"/run for /var/run":                      {glob: "/var/run/**", given: "/run/x", host: "/run/x", deny: true, allow: true},
		"another mount of the superblock":        {glob: "/data/sub/**", given: "/twin/x", host: "/twin/x", deny: true, allow: true},
		"another mount, a directory beside":      {glob: "/data/other/**", given: "/twin/x", host: "/twin/x"},
		"another mount, a longer name":           {glob: "/data/su/**", given: "/twin/x", host: "/twin/x"},
		"another mount, the rest matches":        {glob: "/data/sub/*/b", given: "/twin/x/b", host: "/twin/x/b", deny: true, allow: true},
		"another mount, the rest does not match": {glob: "/data/sub/*/c", given: "/twin/x/b", host: "/twin/x/b"},
		"another mount, prefix is cold":          {glob: "/data/sub/**", given: "/twin/x", host: "/twin/x", cold: true},
		"the parent of the glob":                 {glob: "/data/sub/**", given: "/data", host: "/data"},
		"not resolved: the spelling counts":      {glob: "/data/**", given: "/data/x", deny: true, allow: true},
		"at start, the same":                     {glob: "/data/**", given: "/data/x", host: "/data/x", actual: "/data/x", deny: true, allow: true},
		"at start, swapped out of the glob":      {glob: "/data/**", given: "/data/x", host: "/data/x", actual: "/etc", deny: true},
		"at start, swapped into the glob":        {glob: "/data/**", given: "/tmp/x", host: "/tmp/x", actual: "/data/x", deny: true, allow: true},
		"at start, swapped inside the glob":      {glob: "/data/**", given: "/data/x", host: "/data/x", actual: "/data/y", deny: true, allow: true},
		"at start, swapped, prefix is cold":      {glob: "/data/**", given: "/data/x", host: "/data/x", actual: "/etc", cold: true, deny: true, doubtful: true},
		"at start, never resolved, in the glob":  {glob: "/data/**", given: "/data/x", actual: "/data/x", deny: true, allow: true},
		"at start, never resolved, elsewhere":    {glob: "/data/**", given: "/data/x", actual: "/etc", deny: true, doubtful: true},
		"at start, never resolved, not named":    {glob: "/data/**", given: "/tmp/x", actual: "/etc"},
		"a relative source":                      {glob: "/data/**", given: "data/x", deny: true, doubtful: true},
		"a relative source that was resolved":    {glob: "/data/**", given: "data/x", host: "/data/x", deny: true, allow: true},
		"a relative source, known at start":      {glob: "/data/**", given: "data/x", actual: "/etc"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := bind(test.given, "/in")
			if test.host != "" {
				m.Host = hostPath(test.host)
			}
			if test.actual != "" {
				m.Actual = id(test.actual)
			}
			rule := "[[rule]]\nname = \"a\"\nmatch.source = [\"/no\", \"" + test.glob + "\"]\naction = "
			except := "[[rule]]\nname = \"a\"\nmatch = {}\nexcept.source = [\"/no\", \"" + test.glob + "\"]\naction = "
			for _, c := range []struct {
				text  string
				want  bool
				doubt bool
			}{
				{rule + `"deny"`, test.deny, test.given[0] != '/' && test.deny && test.host == ""},
				{rule + `"audit"`, test.deny, test.given[0] != '/' && test.deny && test.host == ""},
				{rule + `"allow"`, test.allow, test.doubtful},
				{rule + "\"set\"\npropagation = \"rslave\"", test.allow, test.doubtful},
				{except + `"deny"`, !test.allow, test.doubtful},
				{except + `"allow"`, !test.deny, test.given[0] != '/' && test.deny && test.host == ""},
			} {
				p := parse(t, head+c.text)
				env := Env{Prefixes: map[string]facts.HostMount{}}
				for _, prefix := range p.Prefixes(Vars{}) {
					if !test.cold {
						env.Prefixes[prefix] = *hostPath(prefix)
					}
				}
				d := p.Decide(facts.Container{Mounts: []facts.Mount{m}}, env, false)[0]
				if got := d.Rule == "a" || len(d.Audited) == 1; got != c.want {
					t.Errorf("%q: matches %v, want %v", c.text, got, c.want)
				}
				if got := len(d.Unknown) > 0 || len(d.Audited) == 1 && d.Audited[0].Unknown != ""; got != c.doubt {
					t.Errorf("%q: unknown %q, want some: %v", c.text, d.Unknown, c.doubt)
				}
			}
		})
	}
}

func TestADeletedSourceIsStillInItsGlob(t *testing.T) {
	m := bind("/data/x", "/in")
	m.Host = hostPath("/data/x")
	m.Actual = facts.Identity{Device: m.Host.Device, Root: "/x//deleted"}
	env := Env{Prefixes: map[string]facts.HostMount{"/data": *hostPath("/data")}}
	for _, action := range []string{"deny", "allow"} {
		if d := decideOne(t, head+"[[rule]]\nname = \"a\"\nmatch.source = [\"/data/**\"]\naction = \""+action+"\"", env, m); d.Rule != "a" {
			t.Errorf("%s: rule %q", action, d.Rule)
		}
	}
}
