package runtimeconf

import (
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// TestRequired: the three things together make a plugin required, and what cannot
// be read is no answer.
func TestRequired(t *testing.T) {
	t.Parallel()
	config := func(change func(*Config)) *Config {
		c := &Config{Path: "/etc/c.toml", Complete: true, Release: Release{2, 4}}
		c.NRI.Validator.Enable.Value = true
		c.NRI.Validator.RequiredPlugins.Value = []string{"other", "90-mountward"}
		change(c)
		return c
	}
	for name, test := range map[string]struct {
		config             *Config
		required, withheld facts.Truth
	}{
		"required":     {config(func(*Config) {}), facts.Yes, facts.Yes},
		"by its name":  {config(func(c *Config) { c.NRI.Validator.RequiredPlugins.Value = []string{"mountward"} }), facts.Yes, facts.Yes},
		"another":      {config(func(c *Config) { c.NRI.Validator.RequiredPlugins.Value = []string{"9-mountward", "mountward-x"} }), facts.No, facts.Yes},
		"not enabled":  {config(func(c *Config) { c.NRI.Validator.Enable.Value = false }), facts.No, facts.Yes},
		"too old":      {config(func(c *Config) { c.Release = Release{2, 1} }), facts.No, facts.Yes},
		"some unknown": {config(func(c *Config) { c.Release = Release{} }), facts.Yes, facts.Yes},
		"a toleration": {config(func(c *Config) { c.NRI.Validator.TolerateMissing.Value = "x/y" }), facts.Yes, facts.No},
		"not all is read": {config(func(c *Config) {
			c.Complete, c.Unread = false, []Problem{{Message: "no answer"}}
		}), facts.Unknown, facts.Unknown},
	} {
		required, untolerated := test.config.Required("mountward"), test.config.Untolerated()
		if required.Truth != test.required || untolerated.Truth != test.withheld || required.Why == "" || untolerated.Why == "" {
			t.Errorf("%s: required %+v, untolerated %+v", name, required, untolerated)
		}
		if yes := test.config.Requires("mountward"); test.required != facts.Unknown && yes != (test.required == facts.Yes) {
			t.Errorf("%s: requires %t", name, yes)
		}
	}
}

// TestNames: a plugin is listed by its name, or by its index and name.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		listed []string
		want   bool
	}{
		{[]string{"mountward"}, true},
		{[]string{"other", "90-mountward"}, true},
		{[]string{"05-mountward"}, true},
		{nil, false},
		{[]string{""}, false},
		{[]string{"Mountward", "mountward2", "my-mountward", "9-mountward", "900-mountward", "90-mountward-x", "x-90-mountward"}, false},
	} {
		if got := Names(test.listed, "mountward"); got != test.want {
			t.Errorf("%q: named %t, want %t", test.listed, got, test.want)
		}
	}
}
