package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

const uidDir = "/var/lib/kubelet/pods/u-1"

func TestEveryKindOfVolumeHasItsPath(t *testing.T) {
	mount := func(rest string) string { return "[{name: v, mountPath: /a" + rest + "}]" }
	tests := []struct {
		name, mounts, volume string
		want                 string // of the mount at /a, "SOURCE OPTIONS"
		unknown              string
		others               int
	}{
		{"hostPath", mount(""), "hostPath: {path: /srv/x}", "/srv/x rbind,rprivate,rw", "", 0},
		{"None", mount(", mountPropagation: None"), "hostPath: {path: /srv/x}", "/srv/x rbind,rprivate,rw", "", 0},
		{"HostToContainer", mount(", mountPropagation: HostToContainer"), "hostPath: {path: /srv/x}", "/srv/x rbind,rslave,rw", "", 0},
		{"Bidirectional", mount(", mountPropagation: Bidirectional"), "hostPath: {path: /srv/x}", "/srv/x rbind,rshared,rw", "", 0},
		{"read-only", mount(", readOnly: true"), "hostPath: {path: /srv/x}", "/srv/x rbind,rprivate,ro", "", 0},
		{"read-only all the way", mount(", readOnly: true, recursiveReadOnly: Enabled"), "hostPath: {path: /srv/x}", "/srv/x rbind,rprivate,rro", "", 0},
		{"read-only all the way, if possible", mount(", readOnly: true, recursiveReadOnly: IfPossible"), "hostPath: {path: /srv/x}", "/srv/x rbind,rprivate,rro", "recursiveReadOnly is IfPossible", 1},
		{"a path as it is spelled", mount(""), "hostPath: {path: /srv/../etc//x/}", "/srv/../etc//x/ rbind,rprivate,rw", "", 0},
		{"emptyDir", mount(""), "emptyDir: {}", uidDir + "/volumes/kubernetes.io~empty-dir/v rbind,rprivate,rw", "", 0},
		{"an emptyDir without more", mount(""), "emptyDir: ", uidDir + "/volumes/kubernetes.io~empty-dir/v rbind,rprivate,rw", "", 0},
		{"configMap", mount(""), "configMap: {name: c}", uidDir + "/volumes/kubernetes.io~configmap/v rbind,rprivate,rw", "", 0},
		{"secret", mount(""), "secret: {secretName: c}", uidDir + "/volumes/kubernetes.io~secret/v rbind,rprivate,rw", "", 0},
		{"projected", mount(""), "projected: {sources: []}", uidDir + "/volumes/kubernetes.io~projected/v rbind,rprivate,rw", "", 0},
		{"downwardAPI", mount(""), "downwardAPI: {items: []}", uidDir + "/volumes/kubernetes.io~downward-api/v rbind,rprivate,rw", "", 0},
		{"nfs", mount(""), "nfs: {server: s, path: /x}", uidDir + "/volumes/kubernetes.io~nfs/v rbind,rprivate,rw", "", 0},
		{"csi inline", mount(""), "csi: {driver: d}", uidDir + "/volumes/kubernetes.io~csi/v/mount rbind,rprivate,rw", "", 0},
		{"flexVolume", mount(""), "flexVolume: {driver: example.com/lvm}", uidDir + "/volumes/example.com~lvm/v rbind,rprivate,rw", "", 0},
		{"a claim", mount(""), "persistentVolumeClaim: {claimName: d}", uidDir + "/volumes/kubernetes.io~csi/" + anyClaim + "/mount rbind,rprivate,rw", "the claim d is bound to", 3},
		{"ephemeral", mount(""), "ephemeral: {volumeClaimTemplate: {}}", uidDir + "/volumes/kubernetes.io~csi/" + anyClaim + "/mount rbind,rprivate,rw", "what volume a ephemeral is", 3},
		{"image", mount(""), "image: {reference: r}", "/run/containerd/io.containerd.grpc.v1.cri/image-volumes/" + unknownID + "/v rbind,rprivate,rw", "before the pod is made", 0},
		{"sub-path", mount(", subPath: x/y"), "hostPath: {path: /srv}", uidDir + "/volume-subpaths/v/c/0 rbind,rprivate,rw", "", 0},
		{"sub-path of a claim", mount(", subPath: x"), "persistentVolumeClaim: {claimName: d}", uidDir + "/volume-subpaths/" + anyClaim + "/c/0 rbind,rprivate,rw", "the claim d is bound to", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := pod(test.mounts, "[{name: v, "+test.volume+"}]")
			s := read(t, text).Subjects[0]
			if diff := cmp.Diff([]string{"/a " + test.want}, asks(s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			i := slices.IndexFunc(s.Container.Mounts, func(m facts.Mount) bool { return m.Destination == "/a" })
			note := s.Notes[i]
			if !strings.Contains(note.Unknown, test.unknown) || (test.unknown == "") != (note.Unknown == "") || len(note.Others) != test.others {
				t.Errorf("unknown %q, %d others", note.Unknown, len(note.Others))
			}
			for _, other := range note.Others {
				if other.Destination != "/a" || other.Source == s.Container.Mounts[i].Source && slices.Equal(other.Options, s.Container.Mounts[i].Options) {
					t.Errorf("it may also be %+v", other)
				}
			}
		})
	}
}

func TestTheKindAndDriverOfAVolumeAreToldWhereTheManifestShowsThem(t *testing.T) {
	s := read(t, pod("[{name: a, mountPath: /a}, {name: b, mountPath: /b, subPath: x}, {name: c, mountPath: /c}, {name: d, mountPath: /d}]",
		"[{name: a, csi: {driver: d.example.com}}, {name: b, emptyDir: {}}, {name: c, persistentVolumeClaim: {claimName: x}}, {name: d, hostPath: {path: /}}]")).Subjects[0]
	var got []string
	for i, m := range s.Container.Mounts {
		if s.Notes[i].MadeBy == "" {
			got = append(got, m.Destination+" "+s.Notes[i].Kind+" "+s.Notes[i].Driver)
		}
	}
	if diff := cmp.Diff([]string{"/a csi d.example.com", "/b emptyDir ", "/c  ", "/d hostPath "}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestASubPathOfAHostPathTellsWhatItIsBoundFrom(t *testing.T) {
	s := read(t, pod("[{name: v, mountPath: /a, subPath: x//y/.}, {name: v, mountPath: /b, subPathExpr: $(NAME)}]", "[{name: v, hostPath: {path: /srv}}]")).Subjects[0]
	var under []string
	for _, n := range s.Notes {
		if n.Volume != "" {
			under = append(under, n.Under)
		}
	}
	if diff := cmp.Diff([]string{"/srv/x/y", ""}, under); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestTheListIsThatOfContainerd: its own file systems, then the binds by depth and
// within one depth in the kubelet's order.
func TestTheListIsThatOfContainerd(t *testing.T) {
	list := func(s Subject) (all []string) {
		for i, m := range s.Container.Mounts {
			all = append(all, strings.TrimSpace(m.Destination+" "+s.Notes[i].MadeBy))
		}
		return all
	}
	volumes := "[{name: v, hostPath: {path: /srv}}]"
	tests := []struct {
		name, mounts string
		change       func(string) string
		options      Options
		want         []string
	}{
		{
			name: "plain", mounts: "[{name: v, mountPath: /z/y}, {name: v, mountPath: /b}, {name: v, mountPath: rel}, {name: v, mountPath: /a}]",
			want: []string{
				"/proc runtime", "/dev runtime", "/dev/pts runtime", "/dev/mqueue runtime", "/sys runtime", "/sys/fs/cgroup runtime",
				"/b", "/rel", "/a", "/z/y", "/etc/hosts kubelet", "/dev/termination-log kubelet", "/etc/hostname runtime", "/etc/resolv.conf runtime", "/dev/shm runtime",
			},
		},
		{
			name: "what is mounted over is not mounted", mounts: "[{name: v, mountPath: /dev}, {name: v, mountPath: /sys/}, {name: v, mountPath: /etc/hosts}, {name: v, mountPath: /dev/shm}]",
			want: []string{
				"/proc runtime", "/sys/fs/cgroup runtime",
				"/dev", "/sys/", "/etc/hosts", "/dev/shm", "/dev/termination-log kubelet", "/etc/hostname runtime", "/etc/resolv.conf runtime",
			},
		},
		{
			name: "a pod that the API server has not made gets a token", mounts: "[]",
			change: func(s string) string { return strings.Replace(s, ", uid: u-1", "", 1) },
			want: []string{
				"/proc runtime", "/dev runtime", "/dev/pts runtime", "/dev/mqueue runtime", "/sys runtime", "/sys/fs/cgroup runtime",
				"/etc/hosts kubelet", "/dev/termination-log kubelet", "/etc/hostname runtime", "/etc/resolv.conf runtime", "/dev/shm runtime",
				"/var/run/secrets/kubernetes.io/serviceaccount kubelet",
			},
		},
		{
			name: "a static pod gets none", mounts: "[]", options: Options{Static: true},
			change: func(s string) string { return strings.Replace(s, ", uid: u-1", "", 1) },
			want: []string{
				"/proc runtime", "/dev runtime", "/dev/pts runtime", "/dev/mqueue runtime", "/sys runtime", "/sys/fs/cgroup runtime",
				"/etc/hosts kubelet", "/dev/termination-log kubelet", "/etc/hostname runtime", "/etc/resolv.conf runtime", "/dev/shm runtime",
			},
		},
	}
	tests = append(tests, tests[0])
	last := &tests[len(tests)-1]
	last.name, last.mounts = "a user namespace with the host's network", "[]"
	last.change = func(s string) string {
		return strings.Replace(s, "spec:", "spec:\n  hostUsers: false\n  hostNetwork: true", 1)
	}
	last.want = []string{
		"/proc runtime", "/dev runtime", "/dev/pts runtime", "/dev/mqueue runtime", "/sys/fs/cgroup runtime",
		"/etc/hosts kubelet", "/dev/termination-log kubelet", "/etc/hostname runtime", "/etc/resolv.conf runtime", "/dev/shm runtime", "/sys runtime",
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := pod(test.mounts, volumes)
			if test.change != nil {
				text = test.change(text)
			}
			f, err := Read([]byte(text), test.options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, list(f.Subjects[0])); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if static := f.Subjects[0].Container.Pod.Static().Truth == facts.Yes; static != test.options.Static {
				t.Errorf("static: %v", static)
			}
		})
	}
}

func TestTheContainersOfAPod(t *testing.T) {
	f := read(t, `apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  hostUsers: false
  runtimeClassName: kata
  automountServiceAccountToken: false
  initContainers:
  - {name: i}
  - {name: s, restartPolicy: Always, securityContext: {privileged: true}}
  containers: [{name: c, securityContext: {privileged: false}}]
  ephemeralContainers: [{name: e}]
`)
	var got []string
	for _, s := range f.Subjects {
		c := s.Container
		got = append(got, fmt.Sprintf("%s %s privileged %s userns %t %s %s", s.Kind, c.Name, c.Privileged.Truth, c.UserNamespace, c.Pod.Runtime, c.Labels[facts.LabelContainerName]))
		var unknown []string
		for _, u := range s.Unknown {
			unknown = append(unknown, u.What)
		}
		if diff := cmp.Diff([]string{"pod uid", "namespace", "runtime handler"}, unknown); diff != "" {
			t.Errorf("unknown (-want +got):\n%s", diff)
		}
		if answer := facts.SysfsWritable(c.Mounts); answer.Truth != c.Privileged.Truth {
			t.Errorf("%s: its sysfs tells %v, and the manifest %v", c.Name, answer, c.Privileged)
		}
	}
	want := []string{
		"init container i privileged no userns true kata i",
		"sidecar container s privileged yes userns true kata s",
		"container c privileged no userns true kata c",
		"ephemeral container e privileged no userns true kata e",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheClaimsOfAStatefulSetAreVolumes(t *testing.T) {
	f := read(t, `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  volumeClaimTemplates: [{metadata: {name: data}}]
  template:
    spec:
      containers: [{name: c, volumeMounts: [{name: data, mountPath: /data}]}]
`)
	s := f.Subjects[0]
	i := slices.IndexFunc(s.Container.Mounts, func(m facts.Mount) bool { return m.Destination == "/data" })
	if i < 0 || s.Notes[i].Volume != "persistentVolumeClaim data-db-0" {
		t.Errorf("%+v", s.Notes)
	}
}

func TestRootfsPropagationIsTheMostThatIsAskedFor(t *testing.T) {
	mount := func(words ...string) facts.Mount {
		return facts.Mount{Type: "bind", Source: "/a", Destination: "/a", Options: append([]string{"rbind"}, words...)}
	}
	tests := []struct {
		mounts []facts.Mount
		want   string
	}{
		{nil, ""},
		{[]facts.Mount{mount("rprivate"), mount()}, ""},
		{[]facts.Mount{mount("rslave"), mount("rprivate")}, "rslave"},
		{[]facts.Mount{mount("rshared"), mount("rslave")}, "rshared"},
		{[]facts.Mount{mount("rslave"), mount("rshared")}, "rshared"},
		{[]facts.Mount{{Type: "tmpfs", Options: []string{"rshared"}}}, ""},
	}
	for _, test := range tests {
		if got := RootfsPropagation(test.mounts); got != test.want {
			t.Errorf("%v: %q, want %q", test.mounts, got, test.want)
		}
	}
}

func TestAnOCISpecificationIsHandedOn(t *testing.T) {
	const spec = `{"ociVersion":"1.2.0","mounts":[{"destination":"/a"}]}`
	tests := []struct{ name, text, from, id, pod string }{
		{"config.json", spec, FromSpec, "", ""},
		{"in YAML", "ociVersion: 1.2.0\nmounts:\n- destination: /a\n", FromSpec, "", ""},
		{"crictl", `{"status":{"id":"abc","metadata":{"name":"c"},"labels":{"io.kubernetes.pod.name":"p"}},"info":{"runtimeSpec":` + spec + `}}`, FromCrictl, "abc", "p"},
		{"crictl of several", `[{"status":{"id":"abc","labels":{"io.kubernetes.pod.name":"p"}},"info":{"runtimeSpec":` + spec + `}}]`, FromCrictl, "abc", "p"},
		{"crictl in YAML", "info:\n  runtimeSpec:\n    ociVersion: 1.2.0\n    mounts: [{destination: /a}]\nstatus:\n  id: abc\n  labels: {io.kubernetes.pod.name: p}\n", FromCrictl, "abc", "p"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := read(t, test.text).Subjects[0]
			if s.From != test.from || s.Container.ID != test.id || s.Container.Pod.Name != test.pod || !strings.Contains(string(s.Spec), `"destination":"/a"`) || len(s.Missing) == 0 {
				t.Errorf("%+v with %s", s, s.Spec)
			}
		})
	}
}

// TestAKeyThatIsNotKnownIsTold: the API server refuses a misspelled one, and one of
// a later Kubernetes is not known here.
func TestAKeyThatIsNotKnownIsTold(t *testing.T) {
	for mount, want := range map[string]string{
		"{name: v, mountPath: /a, mountPropogation: Bidirectional}":                                     `the keys ["mountPropogation"] of the mount`,
		"{name: v, mountPath: /a, mountPropagation: None, readOnly: true, recursiveReadOnly: Disabled}": "",
		"{name: v, mountPath: /a, subPath: s}":                                                          "",
		"{name: v, mountPath: /a, subPathExpr: s}":                                                      "",
	} {
		f := read(t, pod("["+mount+"]", "[{name: v, emptyDir: {}}]"))
		found := false
		for i, m := range f.Subjects[0].Container.Mounts {
			if m.Destination != "/a" {
				continue
			}
			found = true
			if got := f.Subjects[0].Notes[i].Unknown; !strings.Contains(got, want) || want == "" && got != "" {
				t.Errorf("%s: %q, want %q in it", mount, got, want)
			}
		}
		if !found {
			t.Errorf("%s: no mount", mount)
		}
	}
}

// TestASubPathIsKnownAsFarAsTheEnvironmentIs, and never beyond a whole component.
func TestASubPathIsKnownAsFarAsTheEnvironmentIs(t *testing.T) {
	const env = `env: [{name: A, value: x}, {name: B, value: "$(A)/y"}, {name: C, value: "$(B)"}, {name: L, value: "$$(A)"}, {name: NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}},
    {name: SECRET, valueFrom: {secretKeyRef: {name: s, key: k}}}, {name: NS, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}, {name: NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}},
    {name: APP, valueFrom: {fieldRef: {fieldPath: "metadata.labels['app']"}}}, {name: TIER, valueFrom: {fieldRef: {fieldPath: "metadata.labels['tier']"}}}, {name: MIX, value: "m/$(NODE)/n"}, {name: UP, value: "../x"}, {name: EMPTY, value: ""}]`
	for _, test := range []struct {
		expr, under, below string
	}{
		{"lit/eral", "/srv/lit/eral", ""},
		{"$(A)", "/srv/x", ""},
		{"a-$(A).d/$(C)", "/srv/a-x.d/x/y", ""},
		{"$(L)", "/srv/$(A)", ""},
		{"$$(A)", "/srv/$(A)", ""},
		{"a$b", "/srv/a$b", ""},
		{"$(NS)/$(NAME)/$(APP)", "/srv/ns/p/a", ""},
		{"logs/$(NODE)", "", "/srv/logs"},
		{"logs/n-$(NODE)/x", "", "/srv/logs"},
		{"$(SECRET)", "", "/srv"},
		{"$(TIER)", "", "/srv"},
		{"$(NONE)", "", "/srv"},
		{"a/$(MIX)", "", "/srv/a/m"},
		{"$(EMPTY)", "", ""},
	} {
		text := strings.Replace(pod(`[{name: v, mountPath: /a, subPathExpr: "`+test.expr+`"}]`, "[{name: v, hostPath: {path: /srv}}]"), "volumeMounts:", env+"\n    volumeMounts:", 1)
		text = strings.Replace(text, "uid: u-1", "uid: u-1, labels: {app: a}", 1)
		s := read(t, text).Subjects[0]
		i := slices.IndexFunc(s.Container.Mounts, func(m facts.Mount) bool { return m.Destination == "/a" })
		n := s.Notes[i]
		if n.Under != test.under || n.Below != test.below || (test.below != "") != (n.Unknown != "") {
			t.Errorf("%s: under %q, below %q, unknown %q; want %q, %q", test.expr, n.Under, n.Below, n.Unknown, test.under, test.below)
		}
		if whole := s.Container.Mounts[i].Source == "/srv"; whole != (test.expr == "$(EMPTY)") {
			t.Errorf("%s: source %s", test.expr, s.Container.Mounts[i].Source)
		}
	}
	bad := strings.Replace(pod(`[{name: v, mountPath: /a, subPathExpr: "$(UP)"}]`, "[{name: v, hostPath: {path: /srv}}]"), "volumeMounts:", env+"\n    volumeMounts:", 1)
	if _, err := Read([]byte(bad), Options{}); err == nil || !strings.Contains(err.Error(), `sub-path "../x"`) {
		t.Errorf("a way up: %v", err)
	}
}
