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
