package runtimeconf

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	main2 = "version = 2\nimports = ['/etc/containerd/conf.d/*.toml']\n"
	nri   = "[plugins.'io.containerd.nri.v1.nri']\n"
)

func TestTheDefaultConfigurationHasNothingWrong(t *testing.T) {
	text, err := os.ReadFile("testdata/default-2.4.2.toml")
	if err != nil {
		t.Fatal(err)
	}
	c := Load(t.Context(), fakeFiles{DefaultPath: string(text)}, DefaultPath, Release{2, 4})
	if diff := cmp.Diff(result{NRI: "yes", Timeout: DefaultRequestTimeout}, problems(c)); diff != "" {
		t.Error(diff)
	}
	got := []any{c.Root.Value, c.State.Value, c.Address.Value, c.NRI.Enabled.Truth.String(), c.NRI.SocketPath.Value, c.NRI.RequestTimeout.Value, c.NRI.Validator.RequiredPlugins.Value}
	want := []any{DefaultRoot, DefaultState, DefaultAddress, "yes", DefaultSocketPath, DefaultRequestTimeout, []string{}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c.NRI.RequestTimeout.At.Text != "plugin_request_timeout = '2s'" {
		t.Errorf("the timeout's line is %q", c.NRI.RequestTimeout.At.Text)
	}
}

// result is what a table of tests compares of a Config.
type result struct {
	NRI        string
	Timeout    time.Duration
	TimeoutAt  string
	Required   []string
	Refused    []string
	Orphans    []string
	Lost       []string
	Overridden []string
	Unused     []string
	Unread     []string
}

func problems(c *Config) result {
	r := result{Unused: c.Unused}
	for _, p := range []struct {
		from []Problem
		to   *[]string
	}{{c.Refused, &r.Refused}, {c.Orphans, &r.Orphans}, {c.Lost, &r.Lost}, {c.Unread, &r.Unread}} {
		for _, one := range p.from {
			*p.to = append(*p.to, one.String()+": "+one.Message)
		}
	}
	for _, o := range c.Overridden {
		r.Overridden = append(r.Overridden, o.Key+": "+o.Lost.String()+" by "+o.Holds.String())
	}
	r.NRI, r.Timeout = c.NRI.Enabled.Truth.String(), c.NRI.RequestTimeout.Value
	return r
}

func TestLoadSaysWhatHoldsAndWhere(t *testing.T) {
	const dropIn = "/etc/containerd/conf.d/50-mountward.toml"
	tests := map[string]struct {
		files   fakeFiles
		release Release
		want    result
	}{
		"no file at all, 2.x":               {fakeFiles{}, Release{2, 1}, result{NRI: "yes"}},
		"no file at all, 1.7":               {fakeFiles{}, Release{1, 7}, result{NRI: "no"}},
		"no file at all, some 1.x":          {fakeFiles{}, Release{1, anyMinor}, result{NRI: "no"}},
		"no file at all, some 2.x":          {fakeFiles{}, Release{2, anyMinor}, result{NRI: "yes"}},
		"no file at all, release not known": {fakeFiles{}, Release{}, result{NRI: "unknown"}},
		"version 3 tells that the release has NRI on": {
			fakeFiles{DefaultPath: "version = 3"}, Release{}, result{NRI: "yes"},
		},
		"version 2 does not": {
			fakeFiles{DefaultPath: "version = 2"}, Release{}, result{NRI: "unknown"},
		},
		"a drop-in wins over the file that imports it, key by key": {
			fakeFiles{
				DefaultPath: main2 + nri + "disable = true\nplugin_request_timeout = '5s'",
				dropIn:      "version = 3\n" + nri + "disable = false\ndefault_validator.required_plugins = ['mountward']",
			},
			Release{2, 4},
			result{
				NRI: "yes", Timeout: 5 * time.Second, TimeoutAt: DefaultPath + ":5:1", Required: []string{"mountward"},
				Overridden: []string{"disable: /etc/containerd/config.toml:4:1 by " + dropIn + ":3:1"},
			},
		},
		"1.x takes the whole table of the drop-in": {
			fakeFiles{
				DefaultPath: main2 + nri + "disable = false\nplugin_request_timeout = '5s'",
				dropIn:      "version = 2\n" + nri + "plugin_request_timeout = '7s'",
			},
			Release{1, 7},
			result{
				NRI: "no", Timeout: 7 * time.Second, TimeoutAt: dropIn + ":3:1",
				Lost:       []string{"/etc/containerd/config.toml:4:1: disable is lost: the table at " + dropIn + ":2:10 takes the place of this one"},
				Overridden: []string{"plugin_request_timeout: /etc/containerd/config.toml:5:1 by " + dropIn + ":3:1"},
			},
		},
		"without the release two tables cannot be judged": {
			fakeFiles{DefaultPath: main2 + nri + "disable = false", dropIn: "version = 2\n" + nri + "plugin_path = '/x'"},
			Release{},
			result{NRI: "unknown", Unread: []string{"/etc/containerd/config.toml: containerd's release is not known, and 1.x would use NRI's table of the last file alone"}},
		},
		"an empty list and an empty string in a later file win in a table": {
			fakeFiles{
				DefaultPath: main2 + nri + "plugin_request_timeout = '5s'\ndefault_validator.required_plugins = ['a']",
				dropIn:      "version = 2\n" + nri + "plugin_request_timeout = '0s'\ndefault_validator.required_plugins = []",
			},
			Release{2, 4},
			result{
				NRI: "yes", Required: []string{},
				Overridden: []string{
					"default_validator.required_plugins: /etc/containerd/config.toml:5:19 by " + dropIn + ":4:19",
					"plugin_request_timeout: /etc/containerd/config.toml:4:1 by " + dropIn + ":3:1",
				},
			},
		},
		"a drop-in that nobody imports": {
			fakeFiles{DefaultPath: "version = 3\n", dropIn: "version = 3\n" + nri + "disable = true"},
			Release{2, 4},
			result{NRI: "yes", Unused: []string{dropIn}},
		},
		"a drop-in without a main file": {
			fakeFiles{dropIn: "version = 3\n" + nri + "disable = true"},
			Release{2, 4},
			result{NRI: "yes", Unused: []string{dropIn}},
		},
		"a drop-in that is imported through a link is used": {
			fakeFiles{
				DefaultPath: "version = 3\nimports = ['/opt/x.toml']\n", dropIn: "version = 3\n",
				"/opt/x.toml": "-> " + dropIn,
			},
			Release{2, 4},
			result{NRI: "yes"},
		},
		"imports are relative to the file, and read once": {
			fakeFiles{
				DefaultPath:                    "version = 3\nimports = ['sub/*', 'sub/b']\n",
				"/etc/containerd/sub/a":        "version = 3\nimports = ['../config.toml', 'deeper/c']\n",
				"/etc/containerd/sub/b":        "version = 3\n" + nri + "plugin_request_timeout = '3s'",
				"/etc/containerd/sub/.h":       "version = 3\n" + nri + "plugin_request_timeout = '1s'",
				"/etc/containerd/sub/deeper/c": "version = 3\n" + nri + "plugin_request_timeout = '9s'",
			},
			Release{2, 4},
			result{
				NRI: "yes", Timeout: 9 * time.Second, TimeoutAt: "/etc/containerd/sub/deeper/c:3:1",
				Refused: []string{"/etc/containerd/sub/deeper: is a directory"},
				Overridden: []string{
					"plugin_request_timeout: /etc/containerd/sub/.h:3:1 by /etc/containerd/sub/b:3:1",
					"plugin_request_timeout: /etc/containerd/sub/b:3:1 by /etc/containerd/sub/deeper/c:3:1",
				},
			},
		},
		"an import that is not there": {
			fakeFiles{DefaultPath: "version = 3\nimports = ['gone.toml', 'none/*.toml', 'odd?.toml']\n"},
			Release{2, 4},
			result{NRI: "yes", Refused: []string{
				`/etc/containerd/config.toml:2:1: "/etc/containerd/gone.toml" does not exist`,
				`/etc/containerd/config.toml:2:1: "/etc/containerd/odd?.toml" does not exist`,
			}},
		},
		"a link to nowhere among the drop-ins": {
			fakeFiles{DefaultPath: main2, dropIn: "-> /nowhere"},
			Release{2, 4},
			result{NRI: "yes", Refused: []string{`/etc/containerd/config.toml:2:1: "` + dropIn + `" does not exist`}},
		},
		"an import that is no TOML": {
			fakeFiles{DefaultPath: main2, dropIn: "version = 2\nx ="},
			Release{2, 4},
			result{NRI: "yes", Refused: []string{dropIn + ":2:3: no valid TOML: expected value, not end of input"}},
		},
		"a file that cannot be read": {
			fakeFiles{DefaultPath: main2 + nri + "disable = true", dropIn: "! permission denied"},
			Release{2, 4},
			result{NRI: "unknown", Unread: []string{dropIn + ": " + dropIn + ": permission denied"}},
		},
		"a directory of drop-ins that cannot be read": {
			fakeFiles{DefaultPath: main2, "/etc/containerd/conf.d/": "! permission denied"},
			Release{2, 4},
			result{NRI: "unknown", Unread: []string{
				`/etc/containerd/config.toml:2:1: import "/etc/containerd/conf.d/*.toml": /etc/containerd/conf.d: permission denied`,
				`/etc/containerd/conf.d/*.toml: /etc/containerd/conf.d: permission denied`,
			}},
		},
		"the plugin itself is disabled": {
			fakeFiles{DefaultPath: "version = 2\ndisabled_plugins = ['io.containerd.nri.v1.nri']"},
			Release{2, 4},
			result{NRI: "no"},
		},
		"keys in another case count": {
			fakeFiles{DefaultPath: "Version = 3\n[Plugins.'io.containerd.nri.v1.nri']\nDisable = true\nPlugin_Request_Timeout = '8s'"},
			Release{2, 4},
			result{NRI: "no", Timeout: 8 * time.Second, TimeoutAt: DefaultPath + ":4:1"},
		},
		"a number is one of nanoseconds": {
			fakeFiles{DefaultPath: "version = 3\n" + nri + "plugin_request_timeout = 5"},
			Release{2, 4},
			result{NRI: "yes", Timeout: 5, TimeoutAt: DefaultPath + ":3:1"},
		},
		"wrong types stop containerd": {
			fakeFiles{DefaultPath: "version = 3\n" + nri + "disable = 'true'\nplugin_request_timeout = '5'\nplugin_registration_timeout = 2.5\nsocket_path = 1\ndefault_validator = 3"},
			Release{2, 4},
			result{NRI: "yes", Refused: []string{
				DefaultPath + ":3:1: disable: want true or false",
				DefaultPath + ":6:1: socket_path: want a string",
				DefaultPath + `:5:1: plugin_registration_timeout: want a duration such as "2s"`,
				DefaultPath + `:4:1: plugin_request_timeout: time: missing unit in duration "5"`,
				DefaultPath + ":7:1: default_validator: want a table",
			}},
		},
		"a version that the release does not read": {
			fakeFiles{DefaultPath: "version = 3\n"},
			Release{1, 7},
			result{NRI: "no", Refused: []string{DefaultPath + ":1:1: version 3 is newer than this containerd reads: 2 is its newest"}},
		},
		"version 5": {
			fakeFiles{DefaultPath: "version = 5\n"},
			Release{},
			result{NRI: "yes", Refused: []string{DefaultPath + ":1:1: version 5 is newer than this containerd reads: 4 is its newest"}},
		},
		"required_plugins at the top is containerd's own": {
			fakeFiles{DefaultPath: "version = 3\nrequired_plugins = ['mountward']\n"},
			Release{2, 4},
			result{NRI: "yes", Refused: []string{
				DefaultPath + `:2:1: required_plugins: "mountward" is no name of a plugin of containerd, such as "io.containerd.nri.v1.nri"`,
			}},
		},
		"without a version 1.7 reads the short name": {
			fakeFiles{DefaultPath: "[plugins.nri]\ndisable = false\n"},
			Release{1, 7},
			result{NRI: "yes"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := Load(t.Context(), test.files, DefaultPath, test.release)
			got := problems(c)
			got.Required = c.NRI.Validator.RequiredPlugins.Value
			if got.Timeout == DefaultRequestTimeout {
				got.Timeout = 0
			}
			if at := c.NRI.RequestTimeout.At; at.File != "" {
				got.TimeoutAt = at.String()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRootStateAndAddressAreThoseOfTheLastFileThatSetsThem(t *testing.T) {
	tests := map[string]struct {
		main, dropIn string
		want         [3]string
	}{
		"nowhere":                     {"version = 3", "", [3]string{DefaultRoot, DefaultState, DefaultAddress}},
		"version 2":                   {"version = 2\nroot = '/r'\nstate = '/s'\n[grpc]\naddress = '/a'", "", [3]string{"/r", "/s", "/a"}},
		"an empty one sets nothing":   {"version = 2\nroot = '/r'", "version = 2\nroot = ''", [3]string{"/r", DefaultState, DefaultAddress}},
		"version 4 has a plugin":      {"version = 4\n[plugins.'io.containerd.server.v1.grpc']\naddress = '/a'", "", [3]string{DefaultRoot, DefaultState, "/a"}},
		"[grpc] is gone in version 4": {"version = 4\n[grpc]\naddress = '/a'", "", [3]string{DefaultRoot, DefaultState, DefaultAddress}},
		"the last wins":               {"version = 2\n[grpc]\naddress = '/a'", "version = 2\nstate = '/s'\n[grpc]\naddress = '/b'", [3]string{DefaultRoot, "/s", "/b"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			files := fakeFiles{DefaultPath: "imports = ['*.d']\n" + test.main, "/etc/containerd/x.d": test.dropIn}
			c := Load(t.Context(), files, DefaultPath, Release{2, 4})
			if diff := cmp.Diff(test.want, [3]string{c.Root.Value, c.State.Value, c.Address.Value}); diff != "" {
				t.Error(diff)
			}
		})
	}
}
