package show

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/volumes"
)

func text(t *testing.T, write func(io.Writer) error) string {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// mermaid is VolumesMermaid without the count.
func mermaid(w io.Writer, v Volumes) error {
	_, err := VolumesMermaid(w, v)
	return err
}

// TestVolumesOfANode: a node with most there is, in every format.
func TestVolumesOfANode(t *testing.T) {
	visible := report().Visible()
	target := thin()
	asked := Volumes{
		Targets: []Target{
			{Target: "/data", Mount: &facts.HostMount{Canonical: "/data", MountPoint: "/data", FSType: "xfs", State: facts.MountState{Peer: 5}}, Storage: &target},
			{Target: "/none", Why: "no answer in 50ms"},
		},
		Tasks: []Task{web()},
	}
	for _, test := range []struct {
		file  string
		v     Volumes
		write func(io.Writer, Volumes) error
	}{
		{"node.table", visible, VolumesTable},
		{"node-all.table", report(), VolumesTable},
		{"node.tree", visible, VolumesTree},
		{"node.mermaid", visible, mermaid},
		{"node.json", report(), func(w io.Writer, v Volumes) error { return JSON(w, v) }},
		{"target.table", asked, VolumesTable},
		{"target.tree", asked, VolumesTree},
	} {
		t.Run(test.file, func(t *testing.T) {
			golden(t, test.file, text(t, func(w io.Writer) error { return test.write(w, test.v) }))
		})
	}
}

// TestAMountWithoutItsSourceOnTheHost: the host has something else there now.
// Nothing is drawn of the host, but for why.
func TestAMountWithoutItsSourceOnTheHost(t *testing.T) {
	task := web()
	task.Mounts = task.Mounts[:1]
	m := &task.Mounts[0]
	m.Host, m.Views, m.Why = nil, nil, "the source leads to 8:1 / now: it was mounted over or replaced since"
	v := Volumes{Tasks: []Task{task}}
	tree := text(t, func(w io.Writer) error { return VolumesTree(w, v) })
	if want := "\n└─/data  rslave (HostToContainer)  container app of pod prod/web-0  (source " + m.Source + ": " + m.Why + ")\n"; !strings.Contains(tree, want) || strings.Contains(tree, "host:") {
		t.Errorf("tree has not%s:\n%s", want, tree)
	}
	drawn := text(t, func(w io.Writer) error { return mermaid(w, v) })
	if !strings.Contains(drawn, "/data<br/>source /var/lib/kubelet/") || strings.Contains(drawn, "host#58;") {
		t.Errorf("diagram:\n%s", drawn)
	}
	m.Upper = "/upper"
	if tree := text(t, func(w io.Writer) error { return VolumesTree(w, v) }); !strings.Contains(tree, "└─upperdir /upper\n  └─/data ") {
		t.Errorf("tree of an overlay:\n%s", tree)
	}
	if drawn := text(t, func(w io.Writer) error { return mermaid(w, v) }); !strings.Contains(drawn, "\"upperdir /upper\"") {
		t.Errorf("diagram of an overlay:\n%s", drawn)
	}
}

// TestOneLongCellDoesNotPadTheOthers.
func TestOneLongCellDoesNotPadTheOthers(t *testing.T) {
	long := strings.Repeat("ü", 4000)
	out := text(t, func(w io.Writer) error {
		table := newTable(w, "A", "B", "C")
		table.row("x", long, long)
		table.row("x", long[:2*widest], "z")
		return table.flush()
	})
	lines := strings.Split(out, "\n")
	if want := "x  " + strings.Repeat("ü", widest-3) + "...  " + long; lines[1] != want {
		t.Errorf("long: %q", lines[1])
	}
	if want := "x  " + strings.Repeat("ü", widest) + "  z"; lines[2] != want {
		t.Errorf("just as long: %q", lines[2])
	}
}

// TestEndedContainersAreTold: why others are not known, the survey has told.
func TestEndedContainersAreTold(t *testing.T) {
	member := func(id string, identity facts.Answer) volumes.Member {
		return volumes.Member{
			Container: facts.Container{ID: id, Name: id, Pod: facts.Pod{Namespace: "prod", Name: "p"}},
			Identity:  identity, Ended: id == "ended",
		}
	}
	got := Ended(volumes.Survey{Members: []volumes.Member{
		member("runs", facts.Is(true, "")), member("ended", facts.CannotTell("it has no process")), member("odd", facts.CannotTell("no right")),
	}})
	want := []volumes.Unknown{{What: "container ended of pod prod/p", Why: "it has no process"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ended (-want +got):\n%s", diff)
	}
}
