package vap

import (
	"fmt"
	"strings"
	"testing"
)

// shape is one container of a manifest and what it mounts.
type shape struct {
	kind, namespace, name, labels, annotations, container string
	spec                                                  string // more lines of the pod
	privileged                                            bool
	mounts                                                []mount
	// blurred is what the manifest does not show of its mounts.
	blurred string
}

// mount is a volume and where it is mounted. A source with a slash is a
// hostPath, else it is the rest of a volume in YAML.
type mount struct{ source, destination, propagation, more string }

func indent(n int, text string) string {
	pad := strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+pad) + "\n"
}

// yaml writes the manifest.
func (s shape) yaml() string {
	kind, namespace, container := orElse(s.kind, "Pod"), orElse(s.namespace, "default"), orElse(s.container, "app")
	var mounts, volumes strings.Builder
	for i, m := range s.mounts {
		fmt.Fprintf(&mounts, "  - name: v%d\n    mountPath: %q\n", i, m.destination)
		if m.propagation != "" {
			fmt.Fprintf(&mounts, "    mountPropagation: %s\n", m.propagation)
		}
		if m.more != "" {
			fmt.Fprintf(&mounts, "    %s\n", m.more)
		}
		source := m.source
		if strings.Contains(source, "/") {
			source = fmt.Sprintf("hostPath: {path: %q}", source)
		}
		fmt.Fprintf(&volumes, "- name: v%d\n  %s\n", i, source)
	}
	group := "containers"
	spec := ""
	if s.kind == "init" {
		kind, group = "Pod", "initContainers"
		spec += "containers:\n- name: main\n  image: busybox\n"
	}
	spec += fmt.Sprintf("%s:\n- name: %s\n  image: busybox\n", group, container)
	if s.privileged {
		spec += "  securityContext: {privileged: true}\n"
	}
	if mounts.Len() > 0 {
		spec += "  volumeMounts:\n" + mounts.String() + "volumes:\n" + volumes.String()
	}
	spec += s.spec
	meta := ""
	if s.labels != "" {
		meta += "labels: " + s.labels + "\n"
	}
	if s.annotations != "" {
		meta += "annotations: " + s.annotations + "\n"
	}
	name := orElse(s.name, "thing")
	head := "apiVersion: %s\nkind: %s\nmetadata:\n  name: " + name + "\n  namespace: " + namespace + "\n"
	template := "template:\n"
	if meta != "" {
		template += "  metadata:\n" + indent(4, meta)
	}
	template += "  spec:\n" + indent(4, spec)
	switch kind {
	case "Pod":
		if meta != "" {
			head += indent(2, meta)
		}
		return fmt.Sprintf(head, "v1", kind) + "spec:\n" + indent(2, spec)
	case "CronJob":
		return fmt.Sprintf(head, "batch/v1", kind) + "spec:\n  schedule: '* * * * *'\n  jobTemplate:\n    spec:\n" + indent(6, template)
	case "Job":
		return fmt.Sprintf(head, "batch/v1", kind) + "spec:\n" + indent(2, template)
	default:
		return fmt.Sprintf(head, "apps/v1", kind) + "spec:\n  selector: {matchLabels: {app: x}}\n" + indent(2, template)
	}
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

const (
	shared   = "Bidirectional"
	slave    = "HostToContainer"
	kubelet  = "/var/lib/kubelet"
	emptyDir = "emptyDir: {}"
	claim    = "persistentVolumeClaim: {claimName: data}"
)

// shapes are the manifests that every policy is tried on.
func shapes() []shape {
	csi := []mount{{kubelet, kubelet, shared, ""}, {kubelet + "/plugins/topolvm.io", "/run/topolvm", "", ""}, {"/dev", "/dev", "", ""}}
	all := []shape{
		{},
		{mounts: []mount{{"/etc", "/host/etc", "", "readOnly: true"}}},
		{mounts: []mount{{"/", "/host", slave, "readOnly: true"}}, container: "node-exporter", namespace: "monitoring"},
		{mounts: []mount{{"/", "/rootfs", "", ""}}},
		{mounts: []mount{{"/data/../data", "/d", "", ""}}, blurred: "a path that goes up"},
		{mounts: []mount{{"//data///a/./b/", "/d", "", ""}}},
		{mounts: []mount{{"/data/a", "relative/path", shared, ""}}, privileged: true},
		{mounts: []mount{{"/data/a", "/d/../e", shared, ""}}, privileged: true, blurred: "a path that goes up"},
		{mounts: []mount{{"/database", "/d", shared, ""}}, privileged: true},
		{mounts: []mount{{"/data", "/d", shared, ""}}, privileged: true},
		{mounts: []mount{{"/var/run/containerd", "/r", "", ""}}, blurred: "a path by a link that every node has"},
		{mounts: []mount{{"/lib/modules", "/lib/modules", "", "readOnly: true"}}, blurred: "a path by a link that every node has"},
		{mounts: csi, privileged: true, namespace: "kube-system", labels: `{app: topolvm-node}`},
		{mounts: csi, privileged: true, kind: "init"},
		{mounts: []mount{csi[0], {kubelet + "/plugins/kubernetes.io/csi", "/p", "", ""}}, privileged: true},
		{mounts: []mount{csi[0], {kubelet + "/csi-plugins/x", "/p", "", ""}}, privileged: true},
		{mounts: []mount{csi[0], {claim, "/p", "", ""}}, privileged: true, blurred: "a claim"},
		{mounts: []mount{csi[0]}, privileged: true, labels: `{app: volume-exporter, team: storage}`},
		{mounts: []mount{csi[0]}, privileged: true, labels: `{app: volume-exporter}`},
		{mounts: []mount{{kubelet + "/pods", "/pods", "", ""}}, container: "log-cleaner"},
		{mounts: []mount{{emptyDir, "/tmp", shared, ""}}, privileged: true, blurred: "a directory of the kubelet's"},
		{mounts: []mount{{emptyDir, "/tmp", "", ""}, {"configMap: {name: c}", "/c", "", ""}}, blurred: "a directory of the kubelet's"},
		{mounts: []mount{{claim, "/d", slave, ""}}, blurred: "a claim"},
		{mounts: []mount{{"csi: {driver: a.b}", "/d", shared, ""}}, privileged: true, blurred: "a directory of the kubelet's"},
		{mounts: []mount{{"nfs: {server: a, path: b}", "/d", slave, ""}}, blurred: "a directory of the kubelet's"},
		{mounts: []mount{{"image: {reference: a}", "/d", slave, ""}}, blurred: "what the runtime mounts"},
		{mounts: []mount{{"/data", "/d", shared, "subPath: a"}}, privileged: true, blurred: "a sub-path"},
		{mounts: []mount{{"/data", "/d", "None", ""}, {"/data/x", "/e", shared, ""}}, privileged: true},
		{mounts: []mount{{"/data/x", "/e", slave, ""}}, annotations: `{"example.com/why": "because/of it"}`},
		{mounts: []mount{{"/data/x", "/e", slave, ""}}, spec: "hostUsers: false\n"},
		{mounts: []mount{{"/run", "/run", "None", ""}}, name: "agent-7"},
		{mounts: []mount{{"/data/é\"'\\\\", "/e", shared, ""}}, privileged: true},
	}
	for _, kind := range []string{"Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "Job", "CronJob"} {
		for _, of := range []shape{
			{mounts: csi, privileged: true, namespace: "kube-system"},
			{mounts: []mount{csi[0]}, privileged: true, labels: `{app: volume-exporter, team: storage}`},
			{mounts: []mount{{"/data", "/d", shared, ""}}, privileged: true, container: "node-exporter"},
			{mounts: []mount{{"/", "/host", slave, "readOnly: true"}}, namespace: "monitoring"},
		} {
			of.kind = kind
			all = append(all, of)
		}
	}
	return all
}

const head = "version = 1\nmode = \"enforce\"\n"

// policies are tried on every manifest. exact says that a manifest that shows
// all of its mounts shows all that the rules ask for.
func policies() []struct {
	name, text string
	exact      bool
} {
	return []struct {
		name, text string
		exact      bool
	}{
		{"nobody shares but drivers", head + `default = "allow"
[[rule]]
name = "drivers"
match.role = ["csi-node"]
match.source = ["${kubelet_root}/**"]
match.propagation = ["shared"]
action = "allow"
[[rule]]
name = "nobody"
reason = "ask the storage team"
match.propagation = ["shared"]
except.pod_labels = { app = "volume-exporter", "team" = "stor*" }
action = "deny"
`, true},
		{"a list of what is allowed", head + `default = "deny"
[[rule]]
name = "not-private"
match.source = ["/data", "/run/**", "/usr/lib/**"]
match.propagation = ["shared", "slave"]
except.container = ["node-*"]
action = "deny"
[[rule]]
name = "data"
match.source = ["/data/**", "/run/containerd", "/usr/lib/modules"]
action = "allow"
[[rule]]
name = "follow"
match.source = ["/", "${kubelet_root}"]
match.propagation = ["private", "slave"]
action = "set"
propagation = "rslave"
`, true},
		{"keys of every kind", head + `default = "allow"
[[rule]]
name = "writers"
match.privileged = false
match.destination = ["/host/**", "/rootfs"]
except.namespace = ["mon*", "kube-?ystem"]
action = "deny"
[[rule]]
name = "static"
match.static_pod = true
action = "allow"
[[rule]]
name = "privileged"
match.privileged = true
match.source = ["/d*/**", "/var/*/*/plugins/**"]
match.destination = ["/{d,e}", "/run/top*"]
action = "deny"
[[rule]]
name = "slaves"
match.propagation = ["slave"]
match.namespace = ["default"]
action = "deny"
`, true},
		{"what no manifest shows", head + `default = "allow"
[[rule]]
name = "twice"
match.hazard = ["MW102"]
match.propagation = ["shared"]
action = "allow"
[[rule]]
name = "inside"
match.hazard = ["MW101"]
action = "deny"
[[rule]]
name = "agents"
match.pod = ["agent-*", "thing"]
match.source = ["/run"]
action = "deny"
[[rule]]
name = "hashed"
match.pod_labels = { "pod-template-hash" = "*" }
match.source = ["/data"]
action = "allow"
[[rule]]
name = "nobody"
match.source = ["/**"]
match.propagation = ["private", "shared"]
match.container = ["app"]
except.static_pod = true
action = "deny"
`, false},
		{"kinds of volumes", head + `default = "allow"
[[rule]]
name = "own"
match.volume.kind = ["emptyDir", "configMap", "csi", "image"]
match.propagation = ["shared"]
action = "deny"
[[rule]]
name = "claims-follow"
match.volume.kind = ["nfs", "local"]
action = "allow"
[[rule]]
name = "no-host"
match.volume.kind = ["hostPath", "none"]
except.volume.kind = ["secret"]
except.propagation = ["private"]
action = "deny"
`, true},
		{"shadow", head + `default = "deny"
[[rule]]
name = "later"
match.propagation = ["slave"]
action = "deny"
mode = "audit"
[[rule]]
name = "slaves"
match.propagation = ["slave", "private"]
action = "allow"
`, true},
	}
}

// TestTheExportAgreesWithExplain: every manifest is answered as "explain -f"
// answers it; where that rests on what the manifest does not show, it is never
// refused by mistake.
func TestTheExportAgreesWithExplain(t *testing.T) {
	manifests := shapes()
	if len(manifests) < 50 {
		t.Fatalf("%d manifests", len(manifests))
	}
	var refused, let, weaker int
	for _, p := range policies() {
		rules := parse(t, p.text)
		server := startAPIServer(t, export(t, rules).YAML())
		for _, s := range manifests {
			text := s.yaml()
			want := explain(t, rules, text)
			got := server.ask(t, request{object: object(t, text)})
			switch {
			case got.refused() && (!want.denied || !want.sure):
				t.Errorf("%s: refused (%v), but explain says denied %v, sure %v\n%s", p.name, got.err, want.denied, want.sure, text)
			case got.refused():
				refused++
			case !want.denied:
				let++
			case p.exact && s.blurred == "":
				t.Errorf("%s: not refused, but explain denies by %v\n%s", p.name, want.rules, text)
			default:
				weaker++
			}
		}
	}
	t.Logf("%d manifests, %d policies: %d refused as on the node, %d let through as on the node, %d left to the node", len(manifests), len(policies()), refused, let, weaker)
	if refused < 50 || let < 50 {
		t.Errorf("too few answers of one kind to show anything")
	}
}
