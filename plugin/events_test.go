package main

import (
	"testing"

	"github.com/containerd/nri/pkg/api"
)

// TestEvents: the validation is asked for where the runtime knows it and only
// there, since an older one rejects the plugin; and the mask is never 0, which
// would subscribe everything.
func TestEvents(t *testing.T) {
	var without api.EventMask
	without.Set(api.Event_CREATE_CONTAINER, api.Event_START_CONTAINER, api.Event_STOP_CONTAINER, api.Event_REMOVE_CONTAINER)
	with := without
	with.Set(api.Event_VALIDATE_CONTAINER_ADJUSTMENT)
	for version, want := range map[string]api.EventMask{
		"":                                      without,
		"unknown":                               without,
		"(devel)":                               without,
		"v0":                                    without,
		"vv0.12.0":                              without,
		"v-1.99.0":                              without,
		"v0.x.0":                                without,
		"v0.1.0":                                without,
		"v0.9.0":                                without,
		"v0.9.99":                               without,
		"0.10.0":                                with,
		"v0.10.0":                               with,
		"v0.12.3":                               with,
		"0.12.5-rc.1":                           with,
		"v0.13.0-0.20260101000000-0123456789ab": with,
		"v0.100.0":                              with,
		"v1.0.0":                                with,
		"v1.0":                                  with,
	} {
		if got := events(peer{nri: version}); got != want {
			t.Errorf("%q: events %s, want %s", version, got.PrettyString(), want.PrettyString())
		}
	}
}

// TestEventsOfAContainerdThatDoesNotSayItsNRI: distributions spell versions in
// ways from which NRI's stub concludes nothing. Where nothing is known nothing is
// asked for that could have us rejected.
func TestEventsOfAContainerdThatDoesNotSayItsNRI(t *testing.T) {
	for _, test := range []struct {
		runtime, version, nri string
		want                  bool
	}{
		{"containerd", "1.7.24~ds1", api.UnknownVersion, false},
		{"containerd", "2.1.9-0ubuntu1", api.UnknownVersion, false},
		{"containerd", "2.2.1-0ubuntu1", api.UnknownVersion, true},
		{"containerd", "2.4.2~ds1", "", true},
		{"containerd", "3.0", "", true},
		{"containerd", "2", "", false},
		{"containerd", "", "", false},
		{"containerd", "2.4.2", "v0.8.0", false}, // what it says counts
		{"containerd", "1.7.0", "v0.12.3", true},
		{"cri-o", "2.4.2", api.UnknownVersion, false},
		{"", "2.4.2", "", false},
	} {
		mask := events(peer{test.runtime, test.version, test.nri})
		if got := mask.IsSet(api.Event_VALIDATE_CONTAINER_ADJUSTMENT); got != test.want {
			t.Errorf("%s %q, NRI %q: validation %t, want %t", test.runtime, test.version, test.nri, got, test.want)
		}
	}
}

func TestAtLeast(t *testing.T) {
	for version, want := range map[string]bool{
		"v0.12.3": false, "v0.12.4": true, "0.12.4": true, "v0.12.10": true, "v0.13.0": true, "v1.0.0": true,
		"v0.12": false, "v0.12.4-rc.1": true, "v0.11.9": false, "v0.12.x": false, "v0.12.4.1": false, "": false,
		"(devel)": false, "v0.12.-4": false, "v0.99999999999999999999.0": false,
	} {
		if got := atLeast(version, 0, 12, 4); got != want {
			t.Errorf("%q is at least 0.12.4: %t, want %t", version, got, want)
		}
	}
}
