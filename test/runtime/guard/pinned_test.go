//go:build linux

package guard_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mountward/mountward/test/runtime/harness"
)

// settings writes settings for the command line, and returns where.
func (g *guard) settings(kubelet string) string {
	g.tb.Helper()
	path := filepath.Join(g.Dir, "cli.toml")
	text := fmt.Sprintf("policy = %q\nstate_dir = %q\nruntime_dir = %q\nhost.kubelet_root = %q\n",
		g.Policy, filepath.Join(g.Dir, "state"), filepath.Join(g.Dir, "run"), kubelet)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		g.tb.Fatal(err)
	}
	return path
}

// pinned is what pins says.
type pinned struct {
	asked
	Schema  string
	Reports []struct {
		Target             struct{ Name, Kind string }
		Alive              struct{ Answer, Why string }
		Holders            []pin
		Searched, Suspects []string
		Unknown            []unknown
	} `json:"targets"`
	Unknown []unknown
}

type pin struct {
	Kind, Where, Use string
	User             bool
	Namespace        uint64
	Mounts           []pinMount
	Files            []struct{ Path string }
	Processes        []struct {
		PID  int
		Comm string
	}
	Owner struct {
		ContainerID    string `json:"container_id"`
		Container, Pod string
		Namespace      string
	}
	Why      string
	Evidence []evidence
	Cures    []cure
}

type pinMount struct {
	Device      string
	MountPoint  string `json:"mount_point"`
	Propagation string
}

type cure struct {
	What     string
	Commands []string
}

// holders are "KIND WHERE NAMESPACE/POD/CONTAINER", sorted.
func (p pinned) holders() []string {
	var all []string
	for _, r := range p.Reports {
		for _, h := range r.Holders {
			owner := "-"
			if h.Owner.Pod != "" {
				owner = h.Owner.Namespace + "/" + h.Owner.Pod + "/" + h.Owner.Container
			}
			all = append(all, h.Kind+" "+h.Where+" "+owner)
		}
	}
	slices.Sort(all)
	return all
}

// pinsNode is a volume of a pod, and who is there beside it.
type pinsNode struct {
	*guard
	t                      *testing.T
	settings, kubelet, uid string
	volume                 *harness.Volume
}

func pinsOf(t *testing.T, g *guard, settings, kubelet string) *pinsNode {
	t.Helper()
	p := &pinsNode{guard: g.in(t), t: t, settings: settings, kubelet: kubelet, uid: fmt.Sprintf("4c000000-0000-4000-8000-%012x", rand.Uint64()>>16)}
	v, err := harness.NewVolume(filepath.Join(kubelet, "pods", p.uid, "volumes/kubernetes.io~csi/pvc-1/mount"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	p.volume = v
	return p
}

// agent starts a pod that has the kubelet's directory at /data, and returns its
// process.
func (p *pinsNode) agent(name string, propagation harness.Propagation, args ...string) int {
	p.t.Helper()
	id := p.runOne(harness.Pod{Namespace: "monitoring", Name: name, Containers: []harness.Container{{
		Name: "main", Args: args, Mounts: []harness.ContainerMount{{HostPath: p.kubelet, ContainerPath: "/data", Propagation: propagation}},
	}}})
	pid, err := p.ContainerPID(p.t.Context(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	// Its start is answered when runc is about to become it.
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if err != nil {
			p.t.Fatal(err)
		}
		if !strings.HasPrefix(string(comm), "runc") {
			return pid
		}
	}
	p.t.Fatalf("process %d does not become the container's own", pid)
	return 0
}

// opened waits until a process has opened the volume's file.
func (p *pinsNode) opened(pid int) {
	p.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		if err != nil {
			p.t.Fatal(err)
		}
		for _, link := range links {
			if to, err := os.Readlink(link); err == nil && strings.HasSuffix(to, "/"+harness.Marker) {
				return
			}
		}
	}
	p.t.Fatalf("process %d does not open the file", pid)
}

func (p *pinsNode) unmount(want error) {
	p.t.Helper()
	if err := p.volume.Unmount(); !errors.Is(err, want) {
		p.t.Fatalf("unmount on the host: %v, want %v", err, want)
	}
}

func (p *pinsNode) alive() bool {
	p.t.Helper()
	alive, err := p.volume.Alive()
	if err != nil {
		p.t.Fatal(err)
	}
	return alive
}

// asked runs pins.
func (p *pinsNode) asked(name string) pinned {
	p.t.Helper()
	got := pinned{asked: verb(p.t, p.settings, "pins", name, "-o", "json")}
	if err := json.Unmarshal([]byte(got.stdout), &got); err != nil {
		p.t.Fatalf("%v in %q; exit code %d: %s", err, got.stdout, got.code, got.stderr)
	}
	if got.Schema != "mountward.pins/v1" || len(got.Reports) == 0 {
		p.t.Fatalf("schema %q, %d reports", got.Schema, len(got.Reports))
	}
	return got
}

// ask is asked, and checks what is true of every answer.
func (p *pinsNode) ask(code int, name string) pinned {
	p.t.Helper()
	got := p.asked(name)
	if got.code != code {
		p.t.Fatalf("pins %s: exit code %d, want %d: %s%s", name, got.code, code, got.stdout, got.stderr)
	}
	for _, r := range got.Reports {
		for _, h := range r.Holders {
			if h.Why == "" || len(h.Evidence) == 0 || len(h.Cures) == 0 {
				p.t.Errorf("holder without a reason, evidence or a cure: %+v", h)
			}
			proven(p.t, h.Why, h.Evidence)
		}
		for _, u := range slices.Concat(got.Unknown, r.Unknown) {
			if !u.same(outsidePIDs) {
				p.t.Errorf("unknown: %+v", u)
			}
		}
	}
	return got
}

// run runs the commands of a cure as they are printed.
func (p *pinsNode) run(c cure) {
	p.t.Helper()
	if len(c.Commands) == 0 {
		p.t.Fatalf("cure %q has no command", c.What)
	}
	for _, command := range c.Commands {
		if out, err := exec.CommandContext(p.t.Context(), "sh", "-c", command).CombinedOutput(); err != nil {
			p.t.Fatalf("cure %q: %v: %s", command, err, out)
		}
	}
}

// cured runs a cure that has to free the file system.
func (p *pinsNode) cured(c cure) {
	p.t.Helper()
	p.run(c)
	if err := p.volume.WaitGone(); err != nil {
		p.t.Errorf("after the cure %q: %v", c.Commands, err)
	}
}

// nothing checks that nothing holds the volume, and that pins says so. What is
// outside of the test's pid namespace it cannot tell, and says that too.
func (p *pinsNode) nothing() {
	p.t.Helper()
	if err := p.volume.WaitGone(); err != nil {
		p.t.Error(err)
	}
	got := p.ask(2, p.volume.Number)
	r := got.Reports[0]
	if len(r.Holders) > 0 || r.Alive.Answer == "yes" || len(r.Searched) < 5 || len(slices.Concat(got.Unknown, r.Unknown)) != 1 {
		p.t.Errorf("nothing holds it: %+v", got)
	}
	table := verb(p.t, p.settings, "pins", p.volume.Number)
	for _, text := range []string{"nothing was found that holds it", "searched: ", "mount table"} {
		if !strings.Contains(table.stdout, text) {
			p.t.Errorf("standard output lacks %q:\n%s", text, table.stdout)
		}
	}
}

func namespaceOf(t *testing.T, pid int) uint64 {
	t.Helper()
	link, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", pid))
	if err != nil {
		t.Fatal(err)
	}
	inode, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(link, "mnt:["), "]"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return inode
}
