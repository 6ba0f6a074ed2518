package doctor

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/discover"
	"github.com/mountward/mountward/pkg/namespaces"
)

const (
	mainConf = "/etc/containerd/config.toml"
	dropConf = "/etc/containerd/conf.d/50-mountward.toml"
	imports  = "imports = ['/etc/containerd/conf.d/*.toml']\n"
	nriHead  = "[plugins.'io.containerd.nri.v1.nri']\n"
)

func TestTheConfigurationIsJudged(t *testing.T) {
	tests := map[string]struct {
		node nriNode
		want []string
	}{
		"sound": {
			nriNode{files: nriFiles{mainConf: {text: "version = 3\n"}}, version: "2.4.2"},
			[]string{"yes containerd-config " + mainConf},
		},
		"the defaults are sound": {
			nriNode{files: nriFiles{}, version: "2.4.2"},
			[]string{"yes containerd-config " + mainConf},
		},
		"no containerd at all": {nriNode{files: nriFiles{}, stopped: true}, []string{}},
		"M39: timeouts at the root": {
			nriNode{files: nriFiles{mainConf: {text: "version = 3\nplugin_request_timeout = '9s'\n"}}, version: "2.4.2"},
			[]string{"no containerd-config-orphan " + mainConf, "yes containerd-config " + mainConf},
		},
		"M39: 1.7 has NRI off, and mountward is there": {
			nriNode{files: nriFiles{mainConf: {text: "version = 2\n"}, "/opt/nri/plugins/90-mountward": executable}, version: "1.7.24~ds1"},
			[]string{"no nri-disabled NRI", "yes containerd-config " + mainConf},
		},
		"NRI off where nothing needs it": {
			nriNode{files: nriFiles{mainConf: {text: "version = 2\n"}}, version: "1.7.24~ds1"},
			[]string{"yes nri-disabled NRI", "yes containerd-config " + mainConf},
		},
		"the kernel says that NRI is off where the release is not known": {
			nriNode{files: nriFiles{mainConf: {text: "version = 2\n"}}},
			[]string{"yes nri-disabled NRI", "yes containerd-config " + mainConf},
		},
		"and that it is on": {
			nriNode{files: nriFiles{mainConf: {text: "version = 2\n"}, "/var/run/nri/nri.sock": {}}, sockets: []string{listens}},
			[]string{"yes containerd-config " + mainConf},
		},
		"nobody knows whether NRI is on, and mountward needs it": {
			nriNode{files: nriFiles{mainConf: {text: "version = 2\n"}, "/opt/nri/plugins/90-mountward": executable}, stopped: true},
			[]string{"unknown nri-disabled NRI", "yes containerd-config " + mainConf},
		},
		"an import that is gone": {
			nriNode{files: nriFiles{mainConf: {text: "version = 3\nimports = ['/etc/x.toml']\n"}}, version: "2.4.2"},
			[]string{"no containerd-config-refused " + mainConf},
		},
		"an import that is no TOML": {
			nriNode{files: nriFiles{mainConf: {text: "version = 3\n" + imports}, dropConf: {text: "x"}}, version: "2.4.2"},
			[]string{"no containerd-config-refused " + dropConf},
		},
		"a drop-in that nothing imports": {
			nriNode{files: nriFiles{mainConf: {text: "version = 3\n"}, dropConf: {text: "version = 3\n"}}, version: "2.4.2"},
			[]string{"no containerd-dropin-unused " + dropConf, "yes containerd-config " + mainConf},
		},
		"a later file sets a value again": {
			nriNode{files: nriFiles{
				mainConf: {text: "version = 3\n" + imports + nriHead + "plugin_request_timeout = '3s'\n"},
				dropConf: {text: "version = 3\n" + nriHead + "plugin_request_timeout = '4s'\n"},
			}, version: "2.4.2"},
			[]string{"yes containerd-config-overridden plugin_request_timeout", "yes containerd-config " + mainConf},
		},
		"a later file takes a table away": {
			nriNode{files: nriFiles{
				mainConf: {text: "version = 2\n" + imports + nriHead + "disable = false\n"},
				dropConf: {text: "version = 2\n" + nriHead + "plugin_request_timeout = '4s'\n"},
			}, version: "1.7.24"},
			[]string{"no containerd-config-lost " + mainConf, "yes nri-disabled NRI", "yes containerd-config " + mainConf},
		},
		"what cannot be read is said": {
			nriNode{files: nriFiles{mainConf: {err: "permission denied"}}, version: "2.4.2"},
			[]string{"unknown containerd-config " + mainConf},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, codes(t, checkRuntimeConfig(test.node.snapshot(t)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnotherRuntimeIsLeftAlone(t *testing.T) {
	s := nriNode{files: nriFiles{mainConf: {text: "x"}, "/opt/nri/plugins/x": {mode: 0o755}}}.snapshot(t)
	s.Runtime.Name = discover.CRIO
	if all := append(checkRuntimeConfig(s), checkNRI(s)...); len(all) > 0 {
		t.Errorf("containerd's files were judged on a node with CRI-O: %v", codes(t, all))
	}
}

func TestTheConfigurationIsThatOfTheRuntimesNamespace(t *testing.T) {
	s := nriNode{files: nriFiles{mainConf: {text: "x"}}, version: "2.4.2"}.snapshot(t)
	s.Places = []Place{{Role: RoleRuntime, Files: nriFiles{mainConf: {text: "version = 3"}}}}
	if diff := cmp.Diff([]string{"yes containerd-config " + mainConf}, codes(t, checkRuntimeConfig(s))); diff != "" {
		t.Error(diff)
	}
}

func TestTheFixIsAFileThatContainerdReads(t *testing.T) {
	const orphan, orphanTable = "plugin_request_timeout = '9s'", "[plugins.\"io.containerd.nri.v1.nri\"]\n"
	tests := map[string]struct {
		main, unit    string
		file, content string
		first         string // command; "" for none
		distribution  string
		other         map[string]nriFile // of the machine
	}{
		"imported drop-ins": {
			"version = 3\n" + imports + orphan, "containerd.service",
			dropConf, "version = 2\n" + orphanTable + orphan + "\n", "systemctl restart containerd.service", "", nil,
		},
		"other drop-ins, as of k3s": {
			"version = 3\nimports = ['/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.d/*.toml']\n" + orphan, "k3s.service",
			"/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.d/50-mountward.toml",
			"version = 2\n" + orphanTable + orphan + "\n", "systemctl restart k3s.service", discover.K3s, nil,
		},
		"no drop-ins": {
			"version = 3\n" + orphan, "",
			dropConf, "version = 2\n" + orphanTable + orphan + "\n",
			"grep -q '^imports' " + mainConf + " || sed -i '1i imports = [\"/etc/containerd/conf.d/*.toml\"]' " + mainConf,
			"",
			nriFiles{"/run/systemd/system/x": {}},
		},
		"k3s writes its configuration anew": {
			"version = 2\n" + orphan, "k3s-agent.service",
			"/etc/containerd/config.toml.tmpl", "{{ template \"base\" . }}\n\n" + orphanTable + orphan + "\n", "systemctl restart k3s-agent.service", discover.K3s, nil,
		},
		"k3s with containerd 2, on Alpine": {
			"version = 3\n" + orphan, "",
			"/etc/containerd/config-v3.toml.tmpl", "{{ template \"base\" . }}\n\n" + orphanTable + orphan + "\n", "rc-service k3s restart || rc-service k3s-agent restart",
			discover.K3s,
			nriFiles{"/run/openrc/softlevel": {}},
		},
		"OpenRC":             {"version = 3\n" + imports + orphan, "", dropConf, "version = 2\n" + orphanTable + orphan + "\n", "rc-service containerd restart", "", nriFiles{"/run/openrc/softlevel": {}}},
		"no unit is known":   {"version = 3\n" + imports + orphan, "", dropConf, "version = 2\n" + orphanTable + orphan + "\n", "systemctl restart containerd", discover.Containerd, nriFiles{"/run/systemd/system/x": {}}},
		"MicroK8s":           {"version = 3\n" + imports + orphan, "", dropConf, "version = 2\n" + orphanTable + orphan + "\n", "systemctl restart snap.microk8s.daemon-containerd", discover.MicroK8s, nriFiles{"/run/systemd/system/x": {}}},
		"no service manager": {"version = 3\n" + imports + orphan, "", dropConf, "version = 2\n" + orphanTable + orphan + "\n", "", "", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			files := nriFiles{mainConf: {text: test.main}}
			maps.Copy(files, test.other)
			s := nriNode{files: files, version: "2.4.2"}.snapshot(t)
			s.Runtime.Distribution = test.distribution
			s.Places = []Place{{Role: RoleRuntime, Process: namespaces.Process{Owner: namespaces.Owner{Unit: test.unit}}}}
			fix := checkRuntimeConfig(s)[0].Fixes[0]
			first := strings.Join(fix.Commands[:min(len(fix.Commands), 1)], "")
			if diff := cmp.Diff([]string{test.file, test.content, test.first}, []string{fix.File, fix.Content, first}); diff != "" {
				t.Error(diff)
			}
			if by := strings.Contains(fix.What, "by what starts services here"); by != (test.first == "") {
				t.Errorf("%q with the commands %q", fix.What, fix.Commands)
			}
		})
	}
}
