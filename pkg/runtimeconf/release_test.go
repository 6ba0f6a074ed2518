package runtimeconf

import "testing"

func TestParseRelease(t *testing.T) {
	for version, want := range map[string]Release{
		"v2.4.2": {2, 4}, "2.4.2": {2, 4}, "1.7.24~ds1-6+b4": {1, 7}, "v2.2.0-k3s1": {2, 2}, "2.10.0-rc.1": {2, 10}, "2.5": {2, 5},
		"1.x": {1, -1}, "v2.x": {2, -1}, "0.x": {}, "x.x": {}, "2.xy": {},
		"": {}, "2": {}, "v.1": {}, "x.y": {}, "2.": {}, "0.1": {}, "-1.7": {}, "99999999999999999999.1": {}, "2.99999999999999999999": {},
	} {
		if got := ParseRelease(version); got != want {
			t.Errorf("%q is read as %v, want %v", version, got, want)
		}
	}
}

// TestWhatIsNotKnownOfAReleaseIsNeitherBeforeNorAfter: of "2.x" no more is known
// than that it is not 1.x.
func TestWhatIsNotKnownOfAReleaseIsNeitherBeforeNorAfter(t *testing.T) {
	for version, want := range map[string]struct{ atLeast20, atLeast22, before20, before22 bool }{
		"2.1": {true, false, false, true},
		"2.2": {true, true, false, false},
		"1.7": {false, false, true, true},
		"3.0": {true, true, false, false},
		"2.x": {true, false, false, false},
		"1.x": {false, false, true, true},
		"":    {false, false, false, false},
	} {
		r := ParseRelease(version)
		got := struct{ atLeast20, atLeast22, before20, before22 bool }{r.AtLeast(2, 0), r.AtLeast(2, 2), r.Before(2, 0), r.Before(2, 2)}
		if got != want {
			t.Errorf("%q: %+v, want %+v", version, got, want)
		}
		if text := r.String(); version != "" && text != version || version == "" && text != "unknown" {
			t.Errorf("%q is written %q", version, text)
		}
	}
}
