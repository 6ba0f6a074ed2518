//go:build linux

package guard_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// TestExposure: who is said to reach something does, as it is said, and who is
// not does not. Each container tries it.
func TestExposure(t *testing.T) {
	dirs := harness.TestHostDirs(t)
	dir := dirs.Shared.Path
	kubelet, twin := filepath.Join(dir, "kubelet"), filepath.Join(dir, "twin")
	for _, d := range []string{filepath.Join(kubelet, "pods"), filepath.Join(kubelet, "plugins"), twin} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.Mount(kubelet, twin, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		t.Fatal(err)
	}
	g := start(t, ward.Options{Policy: allowAll, Settings: fmt.Sprintf("host.kubelet_root = %q", kubelet)})
	e := &exposureNode{guard: g, t: t, settings: g.settings(kubelet), kubelet: kubelet, ids: map[string]string{}}

	const owner = "4c000000-0000-4000-8000-200000000001"
	inPod := "pods/" + owner + "/volumes/kubernetes.io~csi/pvc-1/mount"
	secretInPod := "pods/" + owner + "/volumes/kubernetes.io~secret/tls"
	v, err := harness.NewVolume(filepath.Join(kubelet, inPod))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	e.run("prod/db-0", owner, harness.ContainerMount{HostPath: v.Path, ContainerPath: "/data"})
	e.run("ops/backup", "", harness.ContainerMount{HostPath: "/", ContainerPath: "/data", ReadOnly: true})
	e.run("ops/careful", "", harness.ContainerMount{HostPath: kubelet, ContainerPath: "/data", ReadOnly: true, RecursiveReadOnly: true})
	e.run("ops/watcher", "", harness.ContainerMount{HostPath: filepath.Join(kubelet, "pods"), ContainerPath: "/data", Propagation: harness.HostToContainer})
	e.run("ops/twin", "", harness.ContainerMount{HostPath: twin, ContainerPath: "/data", Propagation: harness.HostToContainer})
	e.run("ops/driver", "", harness.ContainerMount{HostPath: filepath.Join(kubelet, "pods"), ContainerPath: "/data", Propagation: harness.Bidirectional})
	e.run("ops/apart", "", harness.ContainerMount{HostPath: filepath.Join(kubelet, "plugins"), ContainerPath: "/data", Propagation: harness.HostToContainer})

	t.Run("a volume", func(t *testing.T) {
		e := e.in(t)
		want := map[string]view{
			"prod/db-0":   {"/data", "yes", "volume", "yes", false},
			"ops/backup":  {"/data" + v.Path, "yes", "host-root", "no", false},
			"ops/careful": {"/data/" + inPod, "no", "kubelet-root", "no", false},
			"ops/watcher": {"/data/" + strings.TrimPrefix(inPod, "pods/"), "yes", "pods", "no", false},
			"ops/twin":    {"/data/" + inPod, "yes", "host-path", "no", true},
			"ops/driver":  {"/data/" + strings.TrimPrefix(inPod, "pods/"), "yes", "pods", "no", false},
		}
		for _, target := range []string{v.Path, v.Number, v.Device} {
			e.reached(target, want)
		}
		// The mount of / itself is read-only, and is said to be.
		if _, err := g.Exec(t.Context(), e.ids["ops/backup"], "mkdir", "/data/made-by-a-test"); !errors.Is(err, harness.ErrExec) || !strings.Contains(err.Error(), "read-only") {
			t.Errorf("the mount of / can be written to: %v", err)
			_ = os.Remove("/made-by-a-test")
		}
		i := slices.IndexFunc(e.ask("/usr").Viewers, func(w viewer) bool { return w.pod() == "ops/backup" })
		if i < 0 {
			t.Fatal("ops/backup is not told to reach /usr")
		}
		if p := e.ask("/usr").Viewers[i].Paths[0]; p.Path != "/data/usr" || p.Writable.Answer != "no" || p.Through.Kind != "host-root" {
			t.Errorf("/usr is reached by ops/backup as %+v", p)
		}
	})
	t.Run("a pod", func(t *testing.T) {
		report := e.in(t).ask("prod/db-0")
		for _, pod := range []string{"prod/db-0", "ops/backup", "ops/watcher"} {
			if !slices.ContainsFunc(report.Viewers, func(w viewer) bool { return w.pod() == pod }) {
				t.Errorf("%s is not told", pod)
			}
		}
		if slices.ContainsFunc(report.Viewers, func(w viewer) bool { return w.pod() == "ops/apart" }) {
			t.Error("ops/apart is told to reach it")
		}
	})
	t.Run("a secret that is mounted later", func(t *testing.T) {
		e := e.in(t)
		secret := filepath.Join(kubelet, secretInPod)
		if err := os.MkdirAll(secret, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount("tmpfs", secret, "tmpfs", 0, ""); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := unix.Unmount(secret, unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		}()
		if err := os.WriteFile(filepath.Join(secret, harness.Marker), []byte("s"), 0o644); err != nil {
			t.Fatal(err)
		}
		// Those with a private copy were there before it and do not get it.
		e.reached(secret, map[string]view{
			"ops/watcher": {"/data/" + strings.TrimPrefix(secretInPod, "pods/"), "yes", "pods", "no", false},
			"ops/driver":  {"/data/" + strings.TrimPrefix(secretInPod, "pods/"), "yes", "pods", "no", false},
			"ops/twin":    {"/data/" + secretInPod, "yes", "host-path", "no", true},
		})
	})
	t.Run("who can mount onto the host", func(t *testing.T) {
		e := e.in(t)
		for _, args := range [][]string{{"--writers"}, {"--writers", v.Path}, {"--writers", filepath.Join(kubelet, "pods")}} {
			got := e.writers(1, args...)
			if diff := cmp.Diff([]string{"ops/driver yes"}, got); diff != "" {
				t.Errorf("%q (-want +got):\n%s", args, diff)
			}
		}
		if got := e.writers(2, "--writers", filepath.Join(kubelet, "plugins")); len(got) > 0 {
			t.Errorf("onto the plugins: %q", got)
		}
		g.Output(e.ids["ops/driver"], "mount-tmpfs", "/data/made")
		if ok, err := harness.Mounted(filepath.Join(kubelet, "pods/made")); !ok || err != nil {
			t.Errorf("what ops/driver mounts is on the host: %t, %v", ok, err)
		}
		g.Output(e.ids["ops/driver"], "umount", "/data/made")
		for _, other := range []string{"ops/watcher", "ops/twin"} {
			if _, err := g.Exec(t.Context(), e.ids[other], "mount-tmpfs", "/data/made"); !errors.Is(err, harness.ErrExec) {
				t.Errorf("%s can mount: %v", other, err)
			}
		}
	})
	t.Run("nobody", func(t *testing.T) {
		e := e.in(t)
		hidden := filepath.Join(dirs.Private.Path, "hidden")
		if err := os.Mkdir(hidden, 0o755); err != nil {
			t.Fatal(err)
		}
		// That of the host's root had its copy before the directory was made,
		// and sees it all the same: it is no mount of its own.
		e.reached(hidden, map[string]view{"ops/backup": {"/data" + hidden, "yes", "host-root", "no", false}})
		if err := unix.Mount("later", hidden, "tmpfs", 0, ""); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := unix.Unmount(hidden, unix.MNT_DETACH); err != nil {
				t.Error(err)
			}
		}()
		e.reached(hidden, map[string]view{})
	})
}

// view is how somebody reaches the target.
type view struct {
	path, writable, through, own string
	twin                         bool
}

// exposed is what exposure says.
type exposed struct {
	asked
	Schema  string
	Viewers []viewer
	Powers  []viewer
	Unknown []unknown
}

type viewer struct {
	Kind, Namespace, Pod string
	Sandbox              bool
	PIDs                 []int
	Own, Privileged      answer
	Paths                []struct {
		Path          string
		Writable, Own answer
		Through       struct{ Kind, Source string }
		Twin          bool
		Evidence      []evidence
	}
}

type answer struct{ Answer, Why string }

func (w viewer) pod() string { return w.Namespace + "/" + w.Pod }

// exposureNode is a node with pods.
type exposureNode struct {
	*guard
	t                 *testing.T
	settings, kubelet string
	ids               map[string]string // containers by pod
}

func (e *exposureNode) in(t *testing.T) *exposureNode {
	return &exposureNode{e.guard.in(t), t, e.settings, e.kubelet, e.ids}
}

func (e *exposureNode) run(pod, uid string, m harness.ContainerMount) {
	e.t.Helper()
	namespace, name, _ := strings.Cut(pod, "/")
	e.ids[pod] = e.runOne(harness.Pod{Namespace: namespace, Name: name, UID: uid, Containers: []harness.Container{{
		Name: "main", Privileged: m.Propagation == harness.Bidirectional, Mounts: []harness.ContainerMount{m},
	}}})
}

func (e *exposureNode) ask(target string) exposed {
	e.t.Helper()
	got := exposed{asked: verb(e.t, e.settings, "exposure", target, "-o", "json")}
	if err := json.Unmarshal([]byte(got.stdout), &got); err != nil {
		e.t.Fatalf("%v in %q; exit code %d: %s", err, got.stdout, got.code, got.stderr)
	}
	if got.Schema != "mountward.exposure/v1" {
		e.t.Errorf("schema %q", got.Schema)
	}
	for _, u := range got.Unknown {
		if !u.same(outsidePIDs) {
			e.t.Errorf("unknown: %+v", u)
		}
	}
	return got
}

// reached checks that those pods reach the target, each as it is said and no
// other, and has each container try it.
func (e *exposureNode) reached(target string, want map[string]view) {
	e.t.Helper()
	report := e.ask(target)
	got := map[string]view{}
	for _, w := range report.Viewers {
		if w.Kind == "host" {
			continue
		}
		for _, p := range w.Paths {
			proven(e.t, w.pod()+" at "+p.Path, p.Evidence)
		}
		if w.Own.Answer == "yes" != (w.Paths[0].Own.Answer == "yes") || w.Sandbox {
			e.t.Errorf("%s: %+v, of which the first is wanted", w.pod(), w)
		}
		p := w.Paths[0]
		got[w.pod()] = view{p.Path, p.Writable.Answer, p.Through.Kind, p.Own.Answer, p.Twin}
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(view{})); diff != "" {
		e.t.Errorf("who reaches %s (-want +got):\n%s", target, diff)
	}
	code := 1
	if len(want) == 0 {
		code = 2 // what is outside of the test's pid namespace cannot be told
	}
	if report.code != code {
		e.t.Errorf("exit code %d, want %d", report.code, code)
	}
	for pod, v := range want {
		file := filepath.Join(v.path, "written-by-"+filepath.Base(pod))
		_, err := e.Exec(e.t.Context(), e.ids[pod], "write", file, "x")
		if able := err == nil; able != (v.writable == "yes") {
			e.t.Errorf("%s can write %s: %v, want writable %s", pod, file, err, v.writable)
		}
	}
}

// writers are "NAMESPACE/POD CAN" of those that exposure --writers names.
func (e *exposureNode) writers(code int, args ...string) (all []string) {
	e.t.Helper()
	a := verb(e.t, e.settings, append([]string{"exposure", "-o", "json"}, args...)...)
	var got struct {
		Schema  string
		Writers []struct {
			viewer
			Can    answer `json:"can_mount"`
			Mounts []struct {
				Evidence []evidence
			}
		}
	}
	if err := json.Unmarshal([]byte(a.stdout), &got); err != nil {
		e.t.Fatalf("%v in %q; exit code %d: %s", err, a.stdout, a.code, a.stderr)
	}
	if a.code != code || got.Schema != "mountward.writers/v1" {
		e.t.Errorf("exposure %q: exit code %d, schema %q: %s", args, a.code, got.Schema, a.stderr)
	}
	for _, w := range got.Writers {
		if w.Kind == "host" {
			continue
		}
		all = append(all, w.pod()+" "+w.Can.Answer)
		for _, m := range w.Mounts {
			proven(e.t, w.pod(), m.Evidence)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// verb runs a verb that needs no daemon, with settings where there are some. On a
// machine whose cores are taken something can take too long once; not again and
// again.
func verb(tb testing.TB, settings string, args ...string) asked {
	tb.Helper()
	binary, err := ward.Binary()
	if err != nil {
		tb.Fatal(err)
	}
	if settings != "" {
		args = append(args, "--config", settings)
	}
	for end := time.Now().Add(time.Minute); ; {
		cmd := exec.CommandContext(tb.Context(), binary, args...)
		var stdout, stderr strings.Builder
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			tb.Fatal(err)
		}
		a := asked{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
		slow := tooLong.FindString(a.stdout + a.stderr)
		if slow == "" || time.Now().After(end) {
			return a
		}
		tb.Logf("%q once more: %s", args, slow)
	}
}

// tooLong is what a verb says of what it did not wait for any longer.
var tooLong = regexp.MustCompile(`(no|did not) answer in [0-9.]+m?s`)
