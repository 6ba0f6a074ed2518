package show

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/volumes"
)

// What a diagram of ours may consist of: less than Mermaid allows, and nothing
// that it would take for anything but text.
var (
	labelText = `"((?:[A-Za-z0-9 /.,()-]|#[0-9]+;|#quot;|<br/>)*)"`
	nodeLine  = regexp.MustCompile(`^  (n[0-9]+)(?:\[\(` + labelText + `\)\]|\[` + labelText + `\]|\(\[` + labelText + `\]\)|\{\{` + labelText + `\}\})$`)
	linkLine  = regexp.MustCompile(`^  (n[0-9]+) -->(?:\|` + labelText + `\|)? (n[0-9]+)$`)
	entity    = regexp.MustCompile(`#([0-9]+|quot);`)
	list      = regexp.MustCompile(`^(?:[0-9]+[.)]|[-+*])`)
)

// parsed is a diagram with its labels decoded.
type parsed struct {
	nodes map[string][]string // the lines of each label
	links [][3]string         // from, label, to
}

func parse(text string) (parsed, error) {
	d := parsed{nodes: map[string][]string{}}
	lines := strings.Split(text, "\n")
	if lines[0] != "flowchart LR" || lines[len(lines)-1] != "" {
		return d, fmt.Errorf("begins with %q and ends with %q", lines[0], lines[len(lines)-1])
	}
	for _, line := range lines[1 : len(lines)-1] {
		if m := nodeLine.FindStringSubmatch(line); m != nil {
			if _, ok := d.nodes[m[1]]; ok {
				return d, fmt.Errorf("second node %s", m[1])
			}
			for _, text := range strings.Split(strings.Join(m[2:], ""), "<br/>") {
				if list.MatchString(text) {
					return d, fmt.Errorf("%q is a list in Markdown", text)
				}
				d.nodes[m[1]] = append(d.nodes[m[1]], decode(text))
			}
			continue
		}
		m := linkLine.FindStringSubmatch(line)
		if m == nil {
			return d, fmt.Errorf("neither a node nor a link: %q", line)
		}
		for _, id := range []string{m[1], m[3]} {
			if d.nodes[id] == nil {
				return d, fmt.Errorf("%s is not drawn", id)
			}
		}
		d.links = append(d.links, [3]string{m[1], decode(m[2]), m[3]})
	}
	return d, nil
}

func decode(text string) string {
	return entity.ReplaceAllStringFunc(text, func(e string) string {
		if e == "#quot;" {
			return `"`
		}
		n, _ := strconv.Atoi(e[1 : len(e)-1]) // digits
		return string(rune(n))
	})
}

// TestDiagramIsAsTheGrammarHasIt, and the grammar refuses what it must.
func TestDiagramIsAsTheGrammarHasIt(t *testing.T) {
	visible := report().Visible()
	for _, v := range []Volumes{visible, report(), {}, {Tasks: []Task{docker()}}} {
		text := text(t, func(w io.Writer) error { return mermaid(w, v) })
		if _, err := parse(text); err != nil {
			t.Errorf("%v in\n%s", err, text)
		}
	}
	for _, bad := range []string{
		"", "flowchart LR", "flowchart LR\n  n1[\"a\"", "flowchart LR\n  n1[\"a\nb\"]\n", "flowchart LR\n  n1[\"a\"b\"]\n",
		"flowchart LR\n  end[\"a\"]\n", "flowchart LR\n  n1 --> n2\n", "flowchart LR\n  n1[\"%%{init}\"]\n", "flowchart LR\n  n1[\"1. x\"]\n",
	} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q passed", bad)
		}
	}
}

// TestDiagramLeadsFromTheDiskToTheContainer: with the propagation between the
// host's mount and the container's.
func TestDiagramLeadsFromTheDiskToTheContainer(t *testing.T) {
	d, err := parse(text(t, func(w io.Writer) error { return mermaid(w, Volumes{Tasks: []Task{web()}}) }))
	if err != nil {
		t.Fatal(err)
	}
	var way []string
	for at := find(t, d, "sda"); ; {
		way = append(way, d.nodes[at][0])
		next := ""
		for _, link := range d.links {
			if link[0] != at || strings.Contains(d.nodes[link[2]][0], "globalmount") || strings.Contains(d.nodes[link[2]][0], "forgotten") {
				continue
			}
			next = link[2]
			if link[1] != "" {
				way = append(way, "--"+link[1]+"--")
			}
			break
		}
		if next == "" {
			break
		}
		at = next
	}
	want := []string{
		"sda", "sda3", `vg0-pool_tmeta`, "vg0-pool-tpool", "vg0/pvc-1",
		podDir + "/volumes/kubernetes.io~csi/pvc-1/mount", "--rslave (HostToContainer)--", "/data", "container app",
	}
	if diff := cmp.Diff(want, way); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func find(t *testing.T, d parsed, line string) string {
	t.Helper()
	for id, lines := range d.nodes {
		if lines[0] == line {
			return id
		}
	}
	t.Fatalf("no node %q", line)
	return ""
}

// TestLowerLayersAreDrawnUpToThree and counted beyond.
func TestLowerLayersAreDrawnUpToThree(t *testing.T) {
	for layers, want := range map[int]int{1: 1, 3: 3, 4: 1} {
		task := Task{Bundle: "/b", Task: volumes.Task{Rootfs: volumes.Rootfs{Path: "/r", FSType: "overlay"}}}
		for i := range layers {
			task.Rootfs.Lower = append(task.Rootfs.Lower, volumes.Lower{Path: fmt.Sprintf("/l/%d", i)})
		}
		d, err := parse(text(t, func(w io.Writer) error { return mermaid(w, Volumes{Tasks: []Task{task}}) }))
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, lines := range d.nodes {
			if strings.Contains(lines[0], "lowerdir") {
				got++
			}
		}
		if got != want {
			t.Errorf("%d layers: %d nodes, want %d", layers, got, want)
		}
	}
}

func FuzzLabel(f *testing.F) {
	for _, s := range hostile() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		line := "flowchart LR\n  n1[" + label(Word(name), Line(name)) + "]\n"
		d, err := parse(line)
		if err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		want := []string{Word(name)}
		if name != "" {
			want = append(want, Line(name))
		}
		if diff := cmp.Diff(want, d.nodes["n1"]); diff != "" {
			t.Errorf("the label says another name (-want +got):\n%s", diff)
		}
	})
}
