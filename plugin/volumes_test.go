package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/ledger"
	"github.com/mountward/mountward/pkg/verify"
	"github.com/mountward/mountward/pkg/volumes"
)

// kubeletDir makes a kubelet's root with a CSI volume of pod u, and returns it
// with the volume's target.
func kubeletDir(t *testing.T) (root, target string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	volume := root + "/pods/u/volumes/kubernetes.io~csi/pvc-1"
	if err := os.MkdirAll(volume+"/mount", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(volume+"/vol_data.json", []byte(`{"driverName":"d.example.com","volumeHandle":"h"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return root, volume + "/mount"
}

// volumesPlugin is a plugin with a kubelet's root.
func volumesPlugin(t *testing.T, policy, root string) (*daemon, *host) {
	t.Helper()
	view, err := hostview.Open(hostview.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = view.Close() })
	n := newNode(t, policy, "")
	text, err := os.ReadFile(n.settings)
	if err != nil {
		t.Fatal(err)
	}
	n.write(n.settings, strings.Replace(string(text), `host.kubelet_root = "/k"`, "host.kubelet_root = \""+root+"\"", 1))
	d := n.daemon()
	d.start("")
	return d, newHost(view, d)
}

// TestACreationIsJudgedByItsVolumes: the daemon finds out what the policy asks
// for, and nothing else.
func TestACreationIsJudgedByItsVolumes(t *testing.T) {
	root, target := kubeletDir(t)
	const rule = enforcing + "[[rule]]\nname = \"r\"\naction = \"deny\"\nmatch."
	for _, test := range []struct {
		match   string
		refused bool
		volume  string
	}{
		{`volume = { kind = ["csi"], driver = ["d.example.com"], name = ["pvc-*"] }`, true, "csi pvc-1 d.example.com"},
		{`volume.driver = ["another"]`, false, "csi pvc-1 d.example.com"},
		{`volume.kind = ["hostPath"]`, false, "csi pvc-1 ?"},
		{`namespace = ["x"]`, false, "? ? ?"},
		{`lvm.vg = ["*"]`, false, ""},
	} {
		text := rule + test.match + "\n"
		if strings.HasPrefix(test.match, "lvm") {
			text = strings.Replace(text, "deny", "audit", 1)
		}
		d, h := volumesPlugin(t, text, root)
		c := facts.Container{ID: "c", Pod: facts.Pod{ID: "s", UID: "u"}, Mounts: []facts.Mount{factsBind("/data", target, "rprivate")}}
		plan := d.plan(t.Context(), h, &c, d.force.Load(), false)
		if (plan.Refusal != nil) != test.refused {
			t.Errorf("%s: refusal %v", test.match, plan.Refusal)
		}
		if len(plan.Outcomes) != 1 {
			t.Fatalf("%s: %d outcomes", test.match, len(plan.Outcomes))
		}
		if len(plan.Outcomes[0].Audited) > 0 {
			t.Errorf("%s is recorded before the storage is known: %q", test.match, plan.Outcomes[0].Audited)
		}
		if got := volumeText(plan.Outcomes[0].Mount.Volume); test.volume != "" && got != test.volume {
			t.Errorf("%s: volume %s, want %s", test.match, got, test.volume)
		}
	}
}

func volumeText(v facts.Volume) string {
	var words []string
	for _, w := range []facts.Word{v.Kind, v.Name, v.Driver} {
		if !w.Known {
			w.Text = "?"
		}
		words = append(words, w.Text)
	}
	return strings.Join(words, " ")
}

// TestRulesAboutLogicalVolumesAreRecordedWithTheMap: by what the map says of each
// mount, after the rules above them.
func TestRulesAboutLogicalVolumesAreRecordedWithTheMap(t *testing.T) {
	root, target := kubeletDir(t)
	d, h := volumesPlugin(t, enforcing+`[[rule]]
name = "not this one"
match.destination = ["/quiet"]
action = "allow"
[[rule]]
name = "csi on vg0"
reason = "watched"
match.volume.driver = ["d.example.com"]
match.lvm.vg = ["vg0"]
action = "audit"
[[rule]]
name = "everything else is recorded at the creation"
match = {}
action = "audit"
`, root)
	x := &examination{
		host: h, container: facts.Container{ID: "c", Pod: facts.Pod{ID: "s", UID: "u"}},
		entry: ledger.Entry{Container: facts.Container{ID: "c"}, Outcomes: []facts.Outcome{
			{Mount: facts.Mount{Destination: "/proc", Type: "proc"}},
			{Mount: factsBind("/other", target, "rprivate")},
			{Mount: factsBind("/quiet", target, "rprivate")},
			{Mount: factsBind("/data", target, "rprivate")},
			{Mount: factsBind("/unknown", target, "rprivate")},
			{Mount: factsBind("/srv", root, "rprivate")},
		}},
		located: verify.Located{Places: make([]verify.Place, 6)},
	}
	on := func(lv, why string) volumes.Mount { return volumes.Mount{Backing: volumes.Backing{LV: lv, NoLV: why}} }
	task := volumes.Task{Mounts: []volumes.Mount{on("vg1/a", ""), on("vg0/b", ""), on("vg0/c", ""), on("", "cannot tell: gone"), on("vg0/d", "")}}
	got := x.stored(t.Context(), d.force.Load(), task)
	name := filepath.Base(d.settings.Policy)
	if len(got) == 2 {
		for i := range got {
			got[i].Position = filepath.Base(got[i].Position)
		}
	}
	want := []audit.Stored{
		{Mount: "/data", Rule: "csi on vg0", Position: name + ":8", Reason: "watched"},
		{
			Mount: "/unknown", Rule: "csi on vg0", Position: name + ":8", Reason: "watched",
			Unknown: []string{`lvm.vg of rule "csi on vg0": it is not known (gone), wants volume group "vg0"; taken as matched`},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	if got := x.stored(t.Context(), d.force.Load(), volumes.Unmapped(1, "no table")); got != nil {
		t.Errorf("without a map: %+v", got)
	}
}
