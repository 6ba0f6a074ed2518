package show

import (
	"bytes"
	"io"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
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
