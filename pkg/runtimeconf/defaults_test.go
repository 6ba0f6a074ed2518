package runtimeconf

import (
	"testing"

	"github.com/containerd/containerd/v2/defaults"
	"github.com/containerd/nri/pkg/api"
	"github.com/google/go-cmp/cmp"
)

func TestTheDefaultsAreThoseOfTheModules(t *testing.T) {
	want := []any{
		defaults.DefaultRootDir, defaults.DefaultStateDir, defaults.DefaultAddress, defaults.DefaultConfigIncludePattern,
		api.DefaultSocketPath,
		api.DefaultPluginRegistrationTimeout, api.DefaultPluginRequestTimeout,
	}
	got := []any{
		DefaultRoot, DefaultState, DefaultAddress, DropIns,
		DefaultSocketPath,
		DefaultRegistrationTimeout, DefaultRequestTimeout,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
