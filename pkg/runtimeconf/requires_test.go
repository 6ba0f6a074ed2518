package runtimeconf_test

import (
	"testing"

	"github.com/mountward/mountward/pkg/runtimeconf"
)

// TestRequires: a plugin is required by its name, or by its index and name, and
// only while the validator is enabled.
func TestRequires(t *testing.T) {
	for _, test := range []struct {
		enable bool
		listed []string
		want   bool
	}{
		{true, []string{"mountward"}, true},
		{true, []string{"other", "90-mountward"}, true},
		{true, []string{"05-mountward"}, true},
		{false, []string{"mountward"}, false},
		{true, nil, false},
		{true, []string{""}, false},
		{true, []string{"Mountward", "mountward2", "my-mountward", "9-mountward", "900-mountward", "90-mountward-x", "x-90-mountward"}, false},
	} {
		var v runtimeconf.Validator
		v.Enable.Value, v.RequiredPlugins.Value = test.enable, test.listed
		if got := v.Requires("mountward"); got != test.want {
			t.Errorf("enable %t, %q: required %t, want %t", test.enable, test.listed, got, test.want)
		}
	}
}
