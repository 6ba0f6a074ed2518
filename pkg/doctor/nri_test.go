package doctor

import (
	"net"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

const pluginsDir = "/opt/nri/plugins"

var ( // by value: no test changes them
	executable = nriFile{mode: 0o755}
	version3   = nriFile{text: "version = 3\n"}
)

func TestThePluginDirectoryIsJudgedAsContainerdReadsIt(t *testing.T) {
	tests := map[string]struct {
		files nriFiles
		want  []string
	}{
		"no directory": {nriFiles{}, []string{"yes nri-plugins " + pluginsDir}},
		"foreign plugins are no problem": {
			nriFiles{pluginsDir + "/10-topology-aware": executable, pluginsDir + "/README": {}, pluginsDir + "/old/x": executable},
			[]string{"yes nri-plugins " + pluginsDir},
		},
		"an executable without a number stops containerd": {
			nriFiles{pluginsDir + "/install.sh": executable, pluginsDir + "/1-x": executable, pluginsDir + "/999-x": {}, pluginsDir + "/ab-x": executable},
			[]string{"no nri-plugin-name " + pluginsDir + "/1-x", "no nri-plugin-name " + pluginsDir + "/ab-x", "no nri-plugin-name " + pluginsDir + "/install.sh"},
		},
		"so does a link, whatever it leads to": {
			nriFiles{pluginsDir + "/current": {link: "/etc/x"}, "/etc/x": {}, pluginsDir + "/gone": {link: "/nowhere"}},
			[]string{"no nri-plugin-name " + pluginsDir + "/current", "no nri-plugin-name " + pluginsDir + "/gone"},
		},
		"leftovers are launched": {
			nriFiles{pluginsDir + "/90-x~": executable, pluginsDir + "/90-x.dpkg-new": executable, pluginsDir + "/90-x.bak": {}},
			[]string{"no nri-plugin-leftover " + pluginsDir + "/90-x.dpkg-new", "no nri-plugin-leftover " + pluginsDir + "/90-x~"},
		},
		"a link to nothing": {
			nriFiles{pluginsDir + "/10-x": {link: "/usr/libexec/x"}},
			[]string{"no nri-plugin-dangling " + pluginsDir + "/10-x"},
		},
		"a link to a plugin": {
			nriFiles{pluginsDir + "/10-x": {link: "/usr/libexec/x"}, "/usr/libexec/x": executable},
			[]string{"yes nri-plugins " + pluginsDir},
		},
		"a directory for its configuration": {
			nriFiles{pluginsDir + "/10-x": executable, "/etc/nri/conf.d/10-x.conf/a": {}},
			[]string{"no nri-plugin-config /etc/nri/conf.d/10-x.conf"},
		},
		"a directory that only looks like one": {
			nriFiles{pluginsDir + "/10-x": executable, "/etc/nri/conf.d/11-x.conf/a": {}, "/etc/nri/conf.d/10-x.conf": {}},
			[]string{"yes nri-plugins " + pluginsDir},
		},
		"configuration that we cannot read": {
			nriFiles{pluginsDir + "/10-x": executable, "/etc/nri/conf.d/x.conf": {err: "permission denied"}},
			[]string{"unknown nri-plugin-config /etc/nri/conf.d/x.conf"},
		},
		"writable by others": {
			nriFiles{
				pluginsDir: {dir: true, mode: 0o777}, pluginsDir + "/10-x": {link: "/home/u/x"}, "/home/u/x": {mode: 0o755, uid: 1000},
				"/etc/nri/conf.d/10-x.conf": {mode: 0o666},
			},
			[]string{"no nri-plugin-writable " + pluginsDir, "no nri-plugin-writable /home/u/x", "no nri-plugin-writable /etc/nri/conf.d/10-x.conf"},
		},
		"a directory that cannot be read": {
			nriFiles{pluginsDir: {dir: true, err: "permission denied"}},
			[]string{"unknown nri-plugins " + pluginsDir},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.files[mainConf] = version3
			s := nriNode{files: test.files, version: "2.4.2"}.snapshot(t)
			if diff := cmp.Diff(test.want, codes(t, checkNRI(s))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWithoutModesAStrayFileIsNeitherBlamedNorCleared(t *testing.T) {
	files := nriFiles{mainConf: version3, pluginsDir + "/install.sh": executable, pluginsDir + "/10-x": executable, pluginsDir + "/a/b": executable}
	s := nriNode{files: files, version: "2.4.2", blind: true}.snapshot(t)
	want := []string{"unknown nri-plugins " + pluginsDir + "/10-x", "unknown nri-plugins " + pluginsDir + "/a", "unknown nri-plugins " + pluginsDir + "/install.sh"}
	if diff := cmp.Diff(want, codes(t, checkNRI(s))); diff != "" {
		t.Error(diff)
	}
}

func TestStrayFilesDoNotMatterWhereNRIIsOff(t *testing.T) {
	files := nriFiles{mainConf: {text: "version = 2\n"}, pluginsDir + "/install.sh": executable}
	if got := codes(t, checkNRI(nriNode{files: files, version: "1.7.2"}.snapshot(t))); len(got) > 0 {
		t.Errorf("NRI is off: %v", got)
	}
	got := codes(t, checkNRI(nriNode{files: files, stopped: true}.snapshot(t)))
	if diff := cmp.Diff([]string{"unknown nri-plugin-name " + pluginsDir + "/install.sh"}, got); diff != "" {
		t.Error("nobody knows whether NRI is on: ", diff)
	}
}

func TestTheKernelsListOfSocketsIsReadOfARealSocket(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a  b.sock")
	l, err := net.Listen("unix", file)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s := nriNode{files: nriFiles{file: {}}, stopped: true}.snapshot(t)
	s.Proc, s.Runtime.PID = "/proc", 0
	r := &containerd{Snapshot: s, files: s.Files}
	s.Runtime.PID = pidOfTest(t)
	if got := r.listening(file); got.listens.Truth != facts.Yes || got.connected != 0 {
		t.Errorf("it listens: %+v", got)
	}
	client, err := net.Dial("unix", file)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer accepted.Close()
	if got := r.listening(file); got.connected != 1 {
		t.Errorf("one is connected: %+v", got)
	}
	l.Close()
	if got := r.listening(file); got.listens.Truth != facts.No {
		t.Errorf("nobody listens any more: %+v", got)
	}
}

func pidOfTest(t *testing.T) int {
	t.Helper()
	self, err := filepath.EvalSymlinks("/proc/self")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(filepath.Base(self))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}
