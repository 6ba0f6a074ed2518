package doctor

import (
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

// Processes of mountward.
func service() namespaces.Process {
	return namespaces.Process{PID: 50, Comm: "mountward", Parent: 1, Owner: namespaces.Owner{Unit: "mountward.service", Cgroup: "/system.slice/mountward.service"}}
}

func launched() namespaces.Process {
	return namespaces.Process{PID: 51, Comm: "90-mountward", Parent: 812, Owner: namespaces.Owner{Unit: "containerd.service", Cgroup: "/system.slice/containerd.service"}}
}

func inContainer() namespaces.Process {
	return namespaces.Process{PID: 50, Comm: "mountward", Parent: 70, Owner: namespaces.Owner{ContainerID: "abc", Cgroup: "/kubepods/abc"}}
}

func TestTheGuardIsJudged(t *testing.T) {
	const (
		required = "[plugins.'io.containerd.nri.v1.nri'.default_validator]\nenable = true\nrequired_plugins = ['90-mountward']\n"
		mw       = pluginsDir + "/90-mountward"
		enforce  = "version = 1\nmode = 'enforce'\n"
	)
	socket := "/var/run/nri/nri.sock"
	run := map[int]string{50: "/usr/bin/mountward run", 51: "/opt/nri/plugins/90-mountward", 52: "mountward doctor"}
	sound := []string{
		"yes nri-plugins " + pluginsDir, "yes nri-socket " + socket, "yes nri-request-timeout plugin_request_timeout", "yes nri-connected mountward",
	}
	tests := map[string]struct {
		node nriNode
		want []string
	}{
		"as a service, watching": {
			nriNode{procs: []namespaces.Process{service()}, sockets: []string{listens, connected}},
			append(sound, "yes nri-fail-open mountward"),
		},
		"as a service, to enforce": {
			nriNode{files: nriFiles{"/etc/mountward/policy.toml": {text: enforce}}, procs: []namespaces.Process{service()}, sockets: []string{listens, connected}},
			append(sound, "yes nri-fail-open mountward"),
		},
		"as a service, to enforce by a policy elsewhere": {
			nriNode{files: nriFiles{
				"/etc/mountward/mountward.toml": {text: "policy = '/p'\n"}, "/p": {text: enforce}, "/etc/mountward/policy.toml": {text: "mode = 'audit'"},
			}, procs: []namespaces.Process{service()}, sockets: []string{listens, connected}},
			append(sound, "yes nri-fail-open mountward"),
		},
		"a policy that cannot be read": {
			nriNode{files: nriFiles{"/etc/mountward/policy.toml": {err: "permission denied"}}, procs: []namespaces.Process{service()}, sockets: []string{listens, connected}},
			append(sound, "yes nri-fail-open mountward"),
		},
		"required, and there": {
			nriNode{
				files: nriFiles{mainConf: {text: "version = 3\n" + required}, "/etc/mountward/policy.toml": {text: enforce}},
				procs: []namespaces.Process{service()}, sockets: []string{listens, connected},
			},
			append(sound, "yes nri-fail-open mountward"),
		},
		"required, with a way around": {
			nriNode{
				files: nriFiles{mainConf: {text: "version = 3\n" + required + "tolerate_missing_plugins_annotation = 'k'\n"}, "/etc/mountward/policy.toml": {text: enforce}},
				procs: []namespaces.Process{service()}, sockets: []string{listens, connected},
			},
			append(sound, "yes nri-fail-open mountward", "unknown nri-toleration k"),
		},
		"required, and nobody is there": {
			nriNode{files: nriFiles{mainConf: {text: "version = 3\n" + required}}, sockets: []string{listens}},
			[]string{
				"yes nri-plugins " + pluginsDir, "yes nri-socket " + socket, "yes nri-request-timeout plugin_request_timeout",
				"no nri-required-missing 90-mountward", "no nri-connected mountward", "yes nri-fail-open mountward",
			},
		},
		"another plugin is required, which may be one that is connected": {
			nriNode{files: nriFiles{mainConf: {text: "version = 3\n" + strings.ReplaceAll(required, "90-mountward", "x")}}, sockets: []string{listens, connected}},
			[]string{"yes nri-plugins " + pluginsDir, "yes nri-socket " + socket},
		},
		"another plugin is required, and none is connected": {
			nriNode{files: nriFiles{mainConf: {text: "version = 3\n" + strings.ReplaceAll(required, "90-mountward", "x")}}, sockets: []string{listens}},
			[]string{"yes nri-plugins " + pluginsDir, "yes nri-socket " + socket, "no nri-required-missing x"},
		},
		"another plugin is required, and whether it is launched cannot be told": {
			nriNode{
				files: nriFiles{mainConf: {text: "version = 3\n" + strings.ReplaceAll(required, "90-mountward", "x")}, pluginsDir + "/10-x": executable},
				blind: true, sockets: []string{listens},
			},
			[]string{"unknown nri-plugins " + pluginsDir + "/10-x", "yes nri-socket " + socket, "unknown nri-required-missing x"},
		},
		"required, and not enforced": {
			nriNode{files: nriFiles{mainConf: {text: "version = 3\n" + strings.ReplaceAll(required, "true", "false")}}, sockets: []string{listens}},
			[]string{"yes nri-plugins " + pluginsDir, "yes nri-socket " + socket, "no nri-required-off required_plugins"},
		},
		"required for its own container": {
			nriNode{files: nriFiles{mainConf: {text: "version = 3\n" + required}}, procs: []namespaces.Process{inContainer()}, sockets: []string{listens, connected}},
			append(sound, "yes nri-fail-open mountward", "no nri-bootstrap mountward"),
		},
		"a service that is not connected": {
			nriNode{procs: []namespaces.Process{service()}, sockets: []string{listens}},
			[]string{"yes nri-plugins " + pluginsDir, "yes nri-socket " + socket, "yes nri-request-timeout plugin_request_timeout", "no nri-connected mountward", "yes nri-fail-open mountward"},
		},
		"a service, and nobody listens": {
			nriNode{procs: []namespaces.Process{service()}},
			[]string{
				"yes nri-plugins " + pluginsDir, "no nri-socket " + socket, "yes nri-request-timeout plugin_request_timeout",
				"unknown nri-connected mountward", "yes nri-fail-open mountward",
			},
		},
		"launched": {
			nriNode{files: nriFiles{mw: {mode: 0o755}}, procs: []namespaces.Process{launched()}, sockets: []string{listens}},
			append(sound, "yes nri-fail-open mountward"),
		},
		"launched once, and dead": {
			nriNode{files: nriFiles{mw: {mode: 0o755}}, sockets: []string{listens}},
			[]string{"yes nri-plugins " + pluginsDir, "yes nri-socket " + socket, "yes nri-request-timeout plugin_request_timeout", "no nri-connected mountward", "yes nri-fail-open mountward"},
		},
		"launched, to enforce by what containerd hands over": {
			nriNode{files: nriFiles{mw: {mode: 0o755}, "/etc/nri/conf.d/mountward.conf": {text: "policy = '/p'"}, "/p": {text: enforce}}, procs: []namespaces.Process{launched()}, sockets: []string{listens}},
			append(sound, "yes nri-fail-open mountward"),
		},
		"launched and as a service": {
			nriNode{files: nriFiles{mw: {mode: 0o755}}, procs: []namespaces.Process{service(), launched()}, sockets: []string{listens, connected}},
			[]string{"no nri-plugin-duplicate mountward", "yes nri-socket " + socket, "yes nri-request-timeout plugin_request_timeout", "yes nri-connected mountward", "yes nri-fail-open mountward"},
		},
		"launched twice": {
			nriNode{files: nriFiles{mw: {mode: 0o755}, pluginsDir + "/10-mountward": {mode: 0o755}}, procs: []namespaces.Process{launched()}, sockets: []string{listens}},
			[]string{"no nri-plugin-duplicate mountward", "yes nri-socket " + socket, "yes nri-request-timeout plugin_request_timeout", "yes nri-connected mountward", "yes nri-fail-open mountward"},
		},
		"not executable": {
			nriNode{files: nriFiles{mw: {}}, sockets: []string{listens}},
			[]string{
				"no nri-plugin-not-executable " + mw, "yes nri-socket " + socket, "yes nri-request-timeout plugin_request_timeout",
				"no nri-connected mountward", "yes nri-fail-open mountward",
			},
		},
		"a policy that others can write": {
			nriNode{files: nriFiles{
				"/etc/mountward": {dir: true, mode: 0o777}, "/etc/mountward/mountward.toml": {mode: 0o666}, "/etc/mountward/policy.toml": {text: enforce, uid: 1000},
				"/etc/mountward/policy.d/10-x.toml": {mode: 0o622}, "/etc/mountward/policy.d/README": {mode: 0o666}, "/etc/mountward/policy.d/.#10-x.toml": {mode: 0o666}, "/etc/mountward/policy.d/20-y.toml": {},
			}, procs: []namespaces.Process{service()}, sockets: []string{listens, connected}},
			append(
				sound, "yes nri-fail-open mountward", "no policy-writable /etc/mountward", "no policy-writable /etc/mountward/mountward.toml",
				"no policy-writable /etc/mountward/policy.d/10-x.toml", "no policy-writable /etc/mountward/policy.toml",
			),
		},
		"a policy behind a link, in a directory of others": {
			nriNode{files: nriFiles{
				"/etc/mountward/policy.toml": {link: "/home/u/p.toml"}, "/home/u": {dir: true, uid: 1000}, "/home/u/p.toml": {text: enforce},
			}, procs: []namespaces.Process{service()}, sockets: []string{listens, connected}},
			append(sound, "yes nri-fail-open mountward", "no policy-writable /home/u"),
		},
		"a policy in a directory for many": {
			nriNode{files: nriFiles{
				"/etc/mountward/mountward.toml": {text: "policy = '/tmp/p.toml'"}, "/tmp": {dir: true, mode: 0o777 | fs.ModeSticky}, "/tmp/p.toml": {text: enforce},
			}, procs: []namespaces.Process{service()}, sockets: []string{listens, connected}},
			append(sound, "yes nri-fail-open mountward", "no policy-writable /tmp"),
		},
		"a policy behind a link into a directory for many": {
			nriNode{files: nriFiles{
				"/tmp": {dir: true, mode: 0o777 | fs.ModeSticky}, "/tmp/p.toml": {text: enforce}, "/etc/mountward/policy.toml": {link: "/tmp/p.toml"},
			}, procs: []namespaces.Process{service()}, sockets: []string{listens, connected}},
			append(sound, "yes nri-fail-open mountward"),
		},
		"the settings of a launched one that others can write": {
			nriNode{files: nriFiles{
				mw: {mode: 0o755}, "/etc/nri/conf.d/mountward.conf": {text: "policy = '/p/p.toml'", mode: 0o666}, "/p/p.toml": {text: enforce},
			}, procs: []namespaces.Process{launched()}, sockets: []string{listens}},
			[]string{
				"no nri-plugin-writable /etc/nri/conf.d/mountward.conf", "yes nri-socket " + socket,
				"yes nri-request-timeout plugin_request_timeout", "yes nri-connected mountward", "yes nri-fail-open mountward",
			},
		},
		"the policy of one in a container": {
			nriNode{files: nriFiles{"/etc/mountward/policy.toml": {mode: 0o666}}, procs: []namespaces.Process{inContainer()}, sockets: []string{listens, connected}},
			append(sound, "yes nri-fail-open mountward"),
		},
		"a timeout in nanoseconds": {
			nriNode{files: nriFiles{mainConf: {text: "version = 3\n" + nriHead + "plugin_request_timeout = 2\n"}}, sockets: []string{listens}},
			[]string{"yes nri-plugins " + pluginsDir, "yes nri-socket " + socket, "no nri-request-timeout plugin_request_timeout"},
		},
		"doctor itself is no plugin": {
			nriNode{procs: []namespaces.Process{{PID: 52, Comm: "mountward"}, {PID: 99, Comm: "mountward"}}, sockets: []string{listens}},
			[]string{"yes nri-plugins " + pluginsDir, "yes nri-socket " + socket},
		},
		"a socket for everybody": {
			nriNode{files: nriFiles{socket: {mode: 0o666}}, sockets: []string{listens}},
			[]string{"yes nri-plugins " + pluginsDir, "yes nri-socket " + socket, "no nri-socket-writable " + socket},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			files := nriFiles{mainConf: version3}
			if len(test.node.sockets) > 0 {
				files[socket] = nriFile{mode: 0o600}
			}
			for p, f := range test.node.files {
				files[p] = f
			}
			test.node.files, test.node.version, test.node.cmdline = files, "2.4.2", run
			if diff := cmp.Diff(test.want, codes(t, checkNRI(test.node.snapshot(t)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAnOpenGuardIsSoundAndSaysWhatClosesIt: a policy that is enforced on a node
// that does not require mountward is an ordinary step of a roll-out.
func TestAnOpenGuardIsSoundAndSaysWhatClosesIt(t *testing.T) {
	const (
		enforce   = "mode = 'enforce'"
		validator = "[plugins.'io.containerd.nri.v1.nri'.default_validator]\nenable = true\nrequired_plugins = "
		open      = "NRI fails open: while mountward is away or late, containers start with the mounts they ask for"
		table     = "version = 2\n[plugins.\"io.containerd.nri.v1.nri\".default_validator]\nenable = true\nrequired_plugins = "
	)
	for name, test := range map[string]struct {
		config, release string
		policy          nriFile
		says            []string
		content         string
	}{
		"enforced": {"", "2.4.2", nriFile{text: enforce}, []string{open, "though the policy is to be enforced", `default validator of NRI with required_plugins = ["mountward"]`}, table + "[\"mountward\"]\n"},
		"others are required": {
			validator + "['other']\n", "2.4.2",
			nriFile{text: enforce},
			[]string{open, `required_plugins = ["other", "mountward"]`},
			table + "[\"other\", \"mountward\"]\n",
		},
		"cannot tell whether it is enforced": {"", "2.4.2", nriFile{err: "permission denied"}, []string{open, "cannot tell whether the policy is to be enforced", `required_plugins = ["mountward"]`}, table + "[\"mountward\"]\n"},
		"a containerd that cannot":           {"", "2.1.4", nriFile{text: enforce}, []string{open, "containerd 2.2 is the first that can close it, this is 2.1"}, ""},
		"it only watches":                    {"", "2.4.2", nriFile{text: "mode = 'audit'"}, []string{"right for a policy that only watches"}, ""},
		"required":                           {validator + "['mountward']\n", "2.4.2", nriFile{text: enforce}, []string{"NRI fails closed"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := nriNode{
				files: nriFiles{
					mainConf: {text: "version = 3\n" + imports + test.config}, "/etc/mountward/policy.toml": test.policy, "/var/run/nri/nri.sock": {mode: 0o600},
				},
				version: test.release, procs: []namespaces.Process{service()}, cmdline: map[int]string{50: "mountward run"}, sockets: []string{listens, connected},
			}.snapshot(t)
			all := checkNRI(s)
			i := slices.IndexFunc(all, func(f Finding) bool { return f.Code == codeFailOpen })
			if i < 0 || all[i].Answer != facts.Yes {
				t.Fatalf("%+v", all)
			}
			for _, part := range test.says { // a table of what is sound has the message alone
				if !strings.Contains(all[i].Message, part) {
					t.Errorf("no %q in %q", part, all[i].Message)
				}
			}
			content := ""
			for _, fix := range all[i].Fixes {
				content += fix.Content
			}
			if diff := cmp.Diff(test.content, content); diff != "" {
				t.Errorf("the fix (-want +got):\n%s", diff)
			}
			for _, f := range all {
				if f.Answer != facts.Yes {
					t.Errorf("%s %s: %s", f.Answer, f.Code, f.Message)
				}
			}
		})
	}
}

// TestNobodyIsTakenHisDirectory: what is not mountward's own is not to be changed.
func TestNobodyIsTakenHisDirectory(t *testing.T) {
	for name, files := range map[string]nriFiles{
		"a home behind a link": {"/etc/mountward/policy.toml": {link: "/home/u/p.toml"}, "/home/u": {dir: true, uid: 1000}, "/home/u/p.toml": {}},
		"a directory for many": {"/etc/mountward/mountward.toml": {text: "policy = '/tmp/p.toml'"}, "/tmp": {dir: true, mode: 0o777 | fs.ModeSticky}, "/tmp/p.toml": {}},
	} {
		files[mainConf] = version3
		s := nriNode{files: files, version: "2.4.2", procs: []namespaces.Process{service()}, cmdline: map[int]string{50: "mountward run"}}.snapshot(t)
		all := slices.DeleteFunc(checkNRI(s), func(f Finding) bool { return f.Code != codePolicyWritable })
		if len(all) != 1 || len(all[0].Fixes) != 1 || len(all[0].Fixes[0].Commands) > 0 {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// TestThePolicyIsThatWhichMountwardSees: a launched one is in containerd's mount
// namespace, which can have another /etc.
func TestThePolicyIsThatWhichMountwardSees(t *testing.T) {
	const policy = "/etc/mountward/policy.toml"
	containerds := nriFiles{mainConf: version3, policy: {text: "mode = 'enforce'", mode: 0o666}}
	ours := nriFiles{policy: {text: "mode = 'audit'"}}
	for name, test := range map[string]struct {
		launched           bool
		enforces, writable facts.Truth
	}{"launched": {true, facts.Yes, facts.No}, "a service": {false, facts.No, facts.Yes}} {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(containerds)
			procs := []namespaces.Process{service()}
			if test.launched {
				files[pluginsDir+"/90-mountward"], procs = executable, []namespaces.Process{launched()}
			}
			s := nriNode{files: ours, version: "2.4.2", procs: procs, cmdline: map[int]string{50: "mountward run", 51: "90-mountward"}}.snapshot(t)
			s.Places = append(s.Places, Place{Role: RoleRuntime, Files: nriModes{files}})
			r, ok := s.containerd()
			if !ok {
				t.Fatal("no containerd")
			}
			if got, _ := r.enforces(); got.Truth != test.enforces {
				t.Errorf("it enforces: %+v, want %v", got, test.enforces)
			}
			if got := r.policyWritable(); facts.Is(len(got) == 0, "").Truth != test.writable {
				t.Errorf("written by root alone: %+v, want %v", got, test.writable)
			}
		})
	}
}
