package runtimeconf

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatLooksLikeASettingOfNRIAndIsNoneIsFound(t *testing.T) {
	const at = DefaultPath + ":"
	const belongs = `belongs in [plugins."io.containerd.nri.v1.nri"]`
	const validator = `belongs in [plugins."io.containerd.nri.v1.nri".default_validator]`
	tests := map[string]struct {
		text    string
		release Release
		want    []string
	}{
		"M39: timeouts at the root of the file": {
			"version = 3\nplugin_request_timeout = '9s'\nplugin_registration_timeout = '9s'\n",
			Release{2, 4},
			[]string{
				at + `3:1: "plugin_registration_timeout" has no effect here: it ` + belongs,
				at + `2:1: "plugin_request_timeout" has no effect here: it ` + belongs,
			},
		},
		"in the table of another plugin": {
			"version = 2\n[plugins.'io.containerd.grpc.v1.cri']\nplugin_request_timeout = '9s'\ndefault_validator.enable = true",
			Release{2, 4},
			[]string{
				at + `4:1: "default_validator" has no effect here: it ` + belongs,
				at + `3:1: "plugin_request_timeout" has no effect here: it ` + belongs,
			},
		},
		"the short name": {
			"version = 3\n[plugins.nri]\ndisable = true",
			Release{2, 4},
			[]string{at + `2:10: the table "plugins.nri" has no effect: NRI's settings belong in [plugins."io.containerd.nri.v1.nri"], with the quotes`},
		},
		"no quotes": {
			"version = 3\n[plugins.io.containerd.nri.v1.nri]\ndisable = true",
			Release{2, 4},
			[]string{at + `2:24: the table "plugins.io.containerd.nri" has no effect: NRI's settings belong in [plugins."io.containerd.nri.v1.nri"], with the quotes`},
		},
		"a misspelled name": {
			"version = 3\n[plugins.'io.containerd.nri.v1.nr']\n[plugins.'io.containerd.nir.v1.nri']\n",
			Release{2, 4},
			[]string{
				at + `3:10: the table "plugins.io.containerd.nir.v1.nri" has no effect: NRI's settings belong in [plugins."io.containerd.nri.v1.nri"], with the quotes`,
				at + `2:10: the table "plugins.io.containerd.nri.v1.nr" has no effect: NRI's settings belong in [plugins."io.containerd.nri.v1.nri"], with the quotes`,
			},
		},
		"not below plugins": {
			"version = 3\n['io.containerd.nri.v1.nri']\ndisable = true\n[nri]\n",
			Release{2, 4},
			[]string{
				at + `2:2: the table "io.containerd.nri.v1.nri" has no effect: NRI's settings belong in [plugins."io.containerd.nri.v1.nri"], with the quotes`,
				at + `4:2: the table "nri" has no effect: NRI's settings belong in [plugins."io.containerd.nri.v1.nri"], with the quotes`,
			},
		},
		"in the wrong of the two tables, and misspelled": {
			"version = 3\n" + nri + "required_plugins = []\nplugin_requets_timeout = '1s'\n[plugins.'io.containerd.nri.v1.nri'.default_validator]\ndisable_connections = true\nenabled = true",
			Release{2, 4},
			[]string{
				at + `4:1: "plugin_requets_timeout" is no setting of NRI and has no effect: did you mean "plugin_request_timeout"?`,
				at + `3:1: "required_plugins" has no effect here: it ` + validator,
				at + `6:1: "disable_connections" has no effect here: it ` + belongs,
				at + `7:1: "enabled" is no setting of NRI and has no effect: did you mean "enable"?`,
			},
		},
		"a validator before there was one": {
			"version = 3\n" + nri + "default_validator.enable = true",
			Release{2, 1},
			[]string{at + `3:1: "default_validator" has no effect: containerd 2.1 has no validator, 2.2 is the first with one`},
		},
		"1.7 without a version does not know the long name": {
			nri + "disable = false",
			Release{1, 7},
			[]string{at + `1:10: the table "plugins.io.containerd.nri.v1.nri" has no effect: NRI's settings belong in [plugins.nri] while the file has no version`},
		},
		"without a version 2.x does": {nri + "disable = true", Release{2, 4}, nil},
		"what containerd has elsewhere": {
			"version = 3\nrequired_plugins = ['io.containerd.grpc.v1.cri']\n[plugins.'io.containerd.internal.v1.opt']\npath = '/opt'\n" +
				"[plugins.'io.containerd.grpc.v1.cri']\nsocket_path = '/x'\ndisable = true\nenable = 1\n[proxy_plugins.stargz]\ntype = 'snapshot'\naddress = '/x'", Release{2, 4}, nil,
		},
		"a key that a newer release may have": {"version = 3\n" + nri + "plugin_concurrency = 4\n", Release{2, 4}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := Load(t.Context(), fakeFiles{DefaultPath: test.text}, DefaultPath, test.release)
			if diff := cmp.Diff(test.want, problems(c).Orphans); diff != "" {
				t.Error(diff)
			}
		})
	}
}
