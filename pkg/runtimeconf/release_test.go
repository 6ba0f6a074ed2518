package runtimeconf

import "testing"

func TestParseRelease(t *testing.T) {
	for version, want := range map[string]Release{
		"v2.4.2": {2, 4}, "2.4.2": {2, 4}, "1.7.24~ds1-6+b4": {1, 7}, "v2.2.0-k3s1": {2, 2}, "2.10.0-rc.1": {2, 10}, "2.5": {2, 5},
		"": {}, "2": {}, "v.1": {}, "x.y": {}, "2.": {}, "0.1": {}, "-1.7": {}, "99999999999999999999.1": {}, "2.99999999999999999999": {},
	} {
		if got := ParseRelease(version); got != want {
			t.Errorf("%q is read as %v, want %v", version, got, want)
		}
	}
}
