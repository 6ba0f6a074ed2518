package show

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/mountward/mountward/pkg/exposure"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
	"github.com/mountward/mountward/pkg/target"
)

func inside(n uint32) *uint32 { return &n }

func reach(path, kind, source, how string, id int) exposure.Path {
	return exposure.Path{
		Target: "vg0/pvc-1", Path: path, MountID: id, Writable: facts.Is(true, "mount and file system are rw"),
		Own: facts.Is(false, "no directory of its pod leads to it"), State: &facts.MountState{Master: 7},
		Through:  exposure.Through{Kind: kind, Source: source, Destination: "/host", Copy: how},
		Evidence: []exposure.Evidence{{Text: "601 600 253:7 / " + path + " rw master:7 - xfs /dev/vg0/pvc-1 rw", Show: "grep '^601 ' /proc/42/mountinfo"}},
	}
}

func exposedNode() ExposedNode {
	return ExposedNode{Node: report().Node, Hostname: "n1", BootID: "89f733e7", MountNamespaces: []uint64{4026531841}}
}

// exposureReport has each kind of viewer, and each way to be reached.
func exposureReport() Exposure {
	who := func(name string, privileged facts.Answer, users ...exposure.User) exposure.Who {
		return exposure.Who{
			Kind: exposure.KindContainer, Container: name, ContainerID: strings.Repeat("c", 64), Pod: name + "-x", Namespace: "prod",
			MountNamespace: 4026532700, PIDs: []int{42, 43}, Privileged: privileged, Users: users, HostPID: facts.Is(false, "another"),
		}
	}
	root := exposure.User{Inside: inside(0), Capabilities: []string{"CAP_DAC_OVERRIDE"}, Processes: 2}
	no, yes := facts.Is(false, "confined"), facts.Is(true, "nothing confines it")
	twin := reach("/mnt/kubelet/x", exposure.ThroughHostPath, "/mnt/local", exposure.CopySlave, 602)
	twin.Twin = true
	part := reach("/db", exposure.ThroughVolume, "/var/lib/kubelet/pods/u/volume-subpaths/v/c/0", exposure.CopyAsked, 603)
	part.Part, part.Own, part.Writable = "db", facts.Is(true, "its own"), facts.Is(false, "the mount is ro")
	gone := reach("/key", exposure.ThroughUnasked, "", "", 604)
	gone.Deleted, gone.Own = true, facts.CannotTell("it leads to something else now")
	locked, loose := part, part
	locked.Remount = &facts.Answer{Truth: facts.Unknown, Why: "whether it is locked is not shown"}
	loose.Remount = &facts.Answer{Truth: facts.Yes, Why: "uid 0 has CAP_SYS_ADMIN, so it can remount it writable"}
	dir, file := reach("/up", exposure.ThroughOpenDirectory, "", "", 92), reach("/up/s", exposure.ThroughOpenFile, "", "", 93)
	dir.State, file.State = nil, nil
	raw := reach("/dev/xvda", exposure.ThroughDevice, "", "", 0)
	raw.Writable, raw.State = facts.CannotTell("the access is not read"), nil
	shared := reach("/k/x", exposure.ThroughKubeletRoot, "/var/lib/kubelet", exposure.CopyShared, 605)
	elsewhere := reach("/h/x", exposure.ThroughHostRoot, "/", exposure.CopyForeign, 606)
	foreign, driver := who("agent", no, root), who("csi", yes, root)
	unread := who("app", no, exposure.User{UID: 100000, Inside: inside(0)}, exposure.User{UID: 5}, exposure.User{UID: 6, Inside: inside(6)}, exposure.User{UID: 7, Inside: inside(7)}, exposure.User{UID: 8, Inside: inside(8)})
	unread.UsersWhy = "permission denied"
	viewer := func(w exposure.Who, paths ...exposure.Path) exposure.Viewer {
		return exposure.Viewer{Who: w, Own: paths[0].Own, Paths: paths}
	}
	many := viewer(foreign, reach("/host/x", exposure.ThroughHostRoot, "/", exposure.CopyPrivate, 601), twin, shared, elsewhere)
	many.Omitted = 3
	host := reach("/x", exposure.ThroughNamespace, "", "", 30)
	return Exposure{
		Schema: ExposureSchema, Node: exposedNode(), Targets: []target.Target{{Name: "vg0/pvc-1", Kind: target.KindLV}},
		Searched: Searched{Rung: namespaces.RungKernel, Containers: 3},
		Report: exposure.Report{
			Time: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC), Namespaces: 5, Below: 2,
			Viewers: []exposure.Viewer{
				many,
				viewer(who("db", facts.CannotTell("?"), root), raw),
				viewer(unread, part, locked, loose, gone, dir, file),
				viewer(exposure.Who{Kind: exposure.KindContainer, ContainerID: strings.Repeat("d", 64), PodUID: "0a1b", PIDs: []int{9}}, host),
				viewer(exposure.Who{Kind: exposure.KindProcess, Comm: "podman", PIDs: []int{9}}, host),
				viewer(exposure.Who{Kind: exposure.KindHeld, Holders: []string{"descriptor 3 of process 7"}}, host),
				viewer(exposure.Who{Kind: exposure.KindService, Unit: "systemd-udevd.service", PIDs: []int{9}}, host),
				viewer(exposure.Who{Kind: exposure.KindHost, Users: []exposure.User{root}, Privileged: yes}, host),
			},
			Powers: []exposure.Power{
				{Who: driver, Everything: true, Why: []string{"privileged: nothing confines it", "it sees the node's processes"}},
				{Who: foreign, Why: []string{"it sees the node's processes"}},
			},
			Unknown: []namespaces.Unknown{{What: "mount namespace mnt:[7]", Why: "permission denied"}},
		},
	}
}

func writersReport() Writers {
	e := exposureReport()
	yes := facts.Is(true, "uid 0 has CAP_SYS_ADMIN")
	onto := exposure.Onto{Path: "/var/lib/kubelet", MountID: 600, Peer: 1, HostPaths: []string{"/", "/var/lib/kubelet"}, Shared: facts.Is(true, "shared:1 in both tables")}
	unsure := onto
	unsure.Shared = facts.CannotTell("only before")
	inNode := e.Viewers[0].Who
	inNode.Note = "a process of it is in the mount namespace of the node"
	return Writers{
		Schema: WritersSchema, Node: exposedNode(), Targets: e.Targets, Searched: e.Searched,
		WriterReport: exposure.WriterReport{Time: e.Time, Namespaces: 5, Writers: []exposure.Writer{
			{Who: e.Powers[0].Who, Can: yes, Mounts: []exposure.Onto{onto, unsure}, Omitted: 2},
			{Who: e.Viewers[0].Who, Can: facts.Is(false, "no process of it has CAP_SYS_ADMIN, nor can get it"), Mounts: []exposure.Onto{onto, unsure}},
			{Who: inNode, Can: yes},
		}},
	}
}

func TestExposureOfANode(t *testing.T) {
	e := exposureReport()
	golden(t, "exposure.table", text(t, func(w io.Writer) error { return ExposureTable(w, e) }))
	golden(t, "exposure.json", text(t, func(w io.Writer) error { return JSON(w, e) }))
	e.Targets = append(e.Targets, target.Target{Name: "prod/web-0"})
	golden(t, "exposure-several.table", text(t, func(w io.Writer) error { return ExposureTable(w, e) }))
	if got := text(t, func(w io.Writer) error { return ExposureTable(w, Exposure{}) }); got != "" {
		t.Errorf("nobody: %q", got)
	}
}

func TestWritersOfANode(t *testing.T) {
	r := writersReport()
	golden(t, "writers.table", text(t, func(w io.Writer) error { return WritersTable(w, r) }))
	golden(t, "writers.json", text(t, func(w io.Writer) error { return JSON(w, r) }))
	if got := text(t, func(w io.Writer) error { return WritersTable(w, Writers{}) }); got != "" {
		t.Errorf("nobody: %q", got)
	}
}

// exposureOf is a report in which one name stands wherever a name can.
func exposureOf(name string) (Exposure, Writers) {
	who := exposure.Who{
		Kind: exposure.KindContainer, ContainerID: name, Container: name, PodUID: name, Pod: name, Namespace: name, Unit: name, Comm: name,
		Holders: []string{name}, Note: name, PIDs: []int{1}, UsersWhy: name,
	}
	path := exposure.Path{Target: name, Path: name, Part: name, HostPath: name, Through: exposure.Through{Kind: name, Source: name, Destination: name, Copy: name}, Evidence: []exposure.Evidence{{Text: name, Show: name}}}
	bare := path
	bare.Through.Source = ""
	e := Exposure{Targets: []target.Target{{Name: name}, {}}, Report: exposure.Report{Powers: []exposure.Power{{Who: who, Why: []string{name}}}, Unknown: []namespaces.Unknown{{What: name, Why: name}}}}
	w := Writers{WriterReport: exposure.WriterReport{}}
	for _, kind := range []string{exposure.KindContainer, exposure.KindProcess, exposure.KindHeld, exposure.KindService, exposure.KindHost} {
		who.Kind = kind
		e.Viewers = append(e.Viewers, exposure.Viewer{Who: who, Paths: []exposure.Path{path, bare}})
		w.Writers = append(w.Writers,
			exposure.Writer{Who: who, Can: facts.CannotTell(name), Mounts: []exposure.Onto{{Path: name, HostPaths: []string{name}, Through: path.Through}}},
			exposure.Writer{Who: who})
	}
	return e, w
}

// TestExposureOfHostileNames: whatever somebody calls a pod, a process or a path,
// the lines are as many as with a plain name, a terminal gets nothing but text,
// and JSON has every byte.
func TestExposureOfHostileNames(t *testing.T) {
	write := func(name string) string {
		e, w := exposureOf(name)
		return text(t, func(out io.Writer) error { return ExposureTable(out, e) }) + text(t, func(out io.Writer) error { return WritersTable(out, w) })
	}
	plain := write("x")
	for _, name := range hostile() {
		got := write(name)
		if name != "" && strings.Count(got, "\n") != strings.Count(plain, "\n") {
			t.Errorf("%q makes %d lines of %d:\n%s", name, strings.Count(got, "\n"), strings.Count(plain, "\n"), got)
		}
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Errorf("%q reaches the terminal: %q", name, got)
		}
		var back struct {
			Viewers []struct {
				Pod   string `json:"pod"`
				Bytes []byte `json:"pod_b64"`
			} `json:"viewers"`
		}
		e, _ := exposureOf(name)
		out := text(t, func(w io.Writer) error { return JSON(w, e) })
		if err := json.Unmarshal([]byte(out), &back); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		if v := back.Viewers[0]; v.Pod+string(v.Bytes) != name {
			t.Errorf("%q became %q and %q", name, v.Pod, v.Bytes)
		}
	}
}
