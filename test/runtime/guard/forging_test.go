//go:build linux

package guard_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

const forgedID = "ffffffffffffffffffffffffffffffff"

// forging is text that would be fields and a record of its own in a journal
// that is written without lengths, and in a log that is written by lines.
const forging = "x=\"'\nMESSAGE_ID=" + forgedID + "\nMESSAGE=forged\nMOUNTWARD_FORGED=1\n\n{\"schema\":\"mountward.task/v1\"}\n=\t\x1b[2J\u202e"

// notUTF8 is the same for a path, which can have any bytes but "/" and NUL.
const notUTF8 = "r\xff\xfe\nMESSAGE_ID=" + forgedID + "\nMOUNTWARD_FORGED=1\n=\xc3"

const followData = `version = 1
mode = "enforce"
default = "allow"

[[rule]]
name = "follow"
match.destination = ["/data*", "/data*/**"]
match.propagation = ["private"]
action = "set"
propagation = "rslave"
`

// TestNothingIsForgedFromAPod: what a pod and a host path are called arrives as
// it is in a real journal, and is nothing but a value there.
func TestNothingIsForgedFromAPod(t *testing.T) {
	startJournald(t)
	dir := t.TempDir()
	// A mount whose root in its file system, and whose label, are not UTF-8.
	raw, plain, evil := filepath.Join(dir, "raw"), filepath.Join(dir, "plain"), filepath.Join(dir, strings.ReplaceAll(forging, "/", "|"))
	if err := os.Mkdir(raw, 0o755); err != nil {
		t.Fatal(err)
	}
	mountHere := func(source, target, fsType string, flags uintptr) {
		t.Helper()
		if err := unix.Mount(source, target, fsType, flags, ""); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := unix.Unmount(target, unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
	}
	mountHere("label"+notUTF8, raw, "tmpfs", 0)
	for _, d := range []string{filepath.Join(raw, notUTF8), plain, evil} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	mountHere(filepath.Join(raw, notUTF8), plain, "", unix.MS_BIND)

	settings := t.TempDir()
	w := ward.Ward{Policy: filepath.Join(settings, "policy.toml"), Audit: filepath.Join(settings, "audit.jsonl")}
	if err := w.WritePolicy(followData); err != nil {
		t.Fatal(err)
	}
	g := start(t, ward.Options{Raw: journalSettings(settings, "")})
	g.Policy, g.Audit = w.Policy, w.Audit

	destination := "/data" + strings.ReplaceAll(forging, "/", "|")
	labels := map[string]string{"app": forging, forging: "x\n", "equals=": "=="}
	id := g.runOne(harness.Pod{
		Namespace: "ns" + forging, Name: "pod" + forging, UID: "uid-forging", Labels: labels,
		Annotations: map[string]string{forging: forging},
		Containers: []harness.Container{{
			Name: "main",
			Mounts: []harness.ContainerMount{
				{HostPath: plain, ContainerPath: "/data"},
				{HostPath: evil, ContainerPath: destination},
			},
		}},
	})

	decision, record := inJournal(t, g.Ward, "decision", id)
	if got := decision.about(t, destination); !strings.Contains(strings.TrimPrefix(got, destination), "rslave") {
		t.Errorf("mount = %q, want that it was made rslave", got)
	}
	for name, want := range map[string]string{"MOUNTWARD_NAMESPACE": "ns" + forging, "MOUNTWARD_POD": "pod" + forging, "MOUNTWARD_POD_UID": "uid-forging", "MOUNTWARD_CONTAINER": "main"} {
		if diff := cmp.Diff([]string{want}, decision[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	got, _ := record.At("container", "pod", "labels").(map[string]any)
	for name, want := range labels {
		if got[name] != want {
			t.Errorf("label %q = %q, want %q", name, got[name], want)
		}
	}
	host, _ := member(record, "outcomes", "/data", "mount")["host"].(map[string]any)
	if root := fromBase64(t, host["root_b64"]); root != "/"+notUTF8 {
		t.Errorf("root = %q, want %q", root, "/"+notUTF8)
	}
	if label := fromBase64(t, host["source_b64"]); label != "label"+notUTF8 {
		t.Errorf("label = %q, want %q", label, "label"+notUTF8)
	}
	if m := member(record, "outcomes", destination, "mount"); m["source"] != evil {
		t.Errorf("source = %q, want %q", m["source"], evil)
	}

	task, record := inJournal(t, g.Ward, "task", id)
	task.about(t, destination)
	if m := member(record, "mounts", destination); m["source"] != evil {
		t.Errorf("source in the map = %q, want %q", m["source"], evil)
	}
	g.never("drift", id)
	nothingForged(t, g.Ward)
}

// TestNothingIsForgedFromMountinfo: so does what the kernel's tables of a
// container show, where any byte can be: the type of a file system, and the
// directory that a root file system is written to.
func TestNothingIsForgedFromMountinfo(t *testing.T) {
	startJournald(t)
	dir := t.TempDir()
	h := &byHand{state: filepath.Join(dir, "containerd"), t: t}
	w := &ward.Ward{Dir: dir, Policy: filepath.Join(dir, "policy.toml"), Audit: filepath.Join(dir, "audit.jsonl")}
	h.must(w.WritePolicy(followData))
	h.bench = launch(t, w, journalSettings(dir, fmt.Sprintf("host.runtime_state = %q", h.state)))

	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	h.must(err)
	t.Cleanup(func() { _ = unix.Close(fd) })
	source := filepath.Join(dir, "volume")
	h.mount("server"+notUTF8, source, "fuse."+notUTF8, 0, fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fd))
	h.must(unix.Mount("", source, "", unix.MS_SHARED, ""))

	c, err := h.created(testPod("prod"), "c", privileged(bind("/data", source, "rprivate")))
	h.must(err)
	upper, work, lower := filepath.Join(dir, "up", notUTF8), filepath.Join(dir, "up", "work"), filepath.Join(dir, "lower")
	h.mount("upper", filepath.Join(dir, "up"), "tmpfs", 0, "")
	for _, d := range []string{upper, work, lower} {
		h.must(os.Mkdir(d, 0o755))
	}
	h.mount("overlay", c.rootfs, "overlay", 0, fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", lower, upper, work))
	h.must(unix.Mount("", c.rootfs, "", unix.MS_PRIVATE, ""))
	h.agent(c.rootfs)
	h.run(c, bound{source, "/data", unix.MS_SLAVE})
	if err := h.start(c); err != nil {
		t.Fatal(err)
	}

	task, record := inJournal(t, w, "task", c.Id)
	if got := task.about(t, "/data"); !strings.Contains(got, " fuse."+notUTF8+" ") {
		t.Errorf("mount = %q, want its type as it is", got)
	}
	if got := fromBase64(t, member(record, "mounts", "/data")["fs_type_b64"]); got != "fuse."+notUTF8 {
		t.Errorf("type = %q, want %q", got, "fuse."+notUTF8)
	}
	if got := fromBase64(t, record.At("rootfs", "upperdir_b64")); got != upper {
		t.Errorf("upper = %q, want %q", got, upper)
	}
	if got, _ := record.At("rootfs", "no_lv").(string); got != "tmpfs: in memory" {
		t.Errorf("root file system has %q, want that of the upper directory's", got)
	}
	decision, record := inJournal(t, w, "decision", c.Id)
	decision.about(t, "/data")
	host, _ := member(record, "outcomes", "/data", "mount")["host"].(map[string]any)
	if got := fromBase64(t, host["source_b64"]); got != "server"+notUTF8 {
		t.Errorf("label = %q, want %q", got, "server"+notUTF8)
	}
	h.no("drift", c)
	nothingForged(t, w)
}
