package hosts_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"github.com/rogpeppe/go-internal/txtar"
)

func archive(text string) []txtar.File { return txtar.Parse([]byte(text)).Files }

// unpack writes a node below a directory.
func unpack(t *testing.T, root string, files []txtar.File) {
	t.Helper()
	write := func(name string, text []byte) {
		name = filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(t, os.WriteFile(name, text, 0o644))
	}
	for _, f := range defaults() {
		write(f.Name, f.Data)
	}
	var processes, containers, links []byte
	tables := map[string]string{}
	for _, f := range files {
		switch dir, name := filepath.Split(f.Name); {
		case f.Name == "want.toml" || strings.HasPrefix(f.Name, "before/"):
		case f.Name == "processes":
			processes = f.Data
		case f.Name == "containers.toml":
			containers = f.Data
		case f.Name == "links":
			links = f.Data
		case f.Name == "dirs":
			for dir := range nonEmpty(f.Data) {
				must(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
			}
		case dir == "mountinfo/":
			write(f.Name, repeat(t, f.Data))
			tables[name] = filepath.Join(root, f.Name)
		default:
			write(f.Name, f.Data)
		}
	}
	for line := range nonEmpty(links) {
		at, target, ok := strings.Cut(line, " ")
		if !ok {
			t.Fatalf("links: %q: want PATH TARGET", line)
		}
		at = filepath.Join(root, at)
		must(t, os.MkdirAll(filepath.Dir(at), 0o755))
		must(t, os.Symlink(target, at))
	}
	writeProcesses(t, root, processes, tables)
	writeContainers(t, containers, write)
}

// defaults are files that every node has.
func defaults() []txtar.File {
	return archive(`
-- proc/sys/kernel/osrelease --
6.12.48+deb13-amd64
-- proc/sys/fs/mount-max --
100000
-- proc/stat --
btime 1772600000
-- proc/net/unix --
Num       RefCount Protocol Flags    Type St Inode Path
-- proc/swaps --
Filename				Type		Size		Used		Priority
-- run/systemd/journal/socket --
`)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// nonEmpty yields the lines that are neither empty nor comments.
func nonEmpty(text []byte) func(func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if line != "" && !strings.HasPrefix(line, "#") && !yield(line) {
				return
			}
		}
	}
}

// repeat writes out the lines that stand for many.
func repeat(t *testing.T, text []byte) []byte {
	t.Helper()
	counter := regexp.MustCompile(`\{(?:(\d+)\+)?n\}`)
	var out bytes.Buffer
	for line := range strings.Lines(string(text)) {
		rest, ok := strings.CutPrefix(line, "@repeat ")
		if !ok {
			out.WriteString(line)
			continue
		}
		count, line, _ := strings.Cut(rest, " ")
		many, err := strconv.Atoi(count)
		must(t, err)
		for n := range many {
			out.WriteString(counter.ReplaceAllStringFunc(line, func(s string) string {
				k, _ := strconv.Atoi(counter.FindStringSubmatch(s)[1]) // "" is 0
				return strconv.Itoa(k + n)
			}))
		}
	}
	return out.Bytes()
}

// container is a container of containerd, as its bundle tells it.
type container struct {
	ID                string
	Namespace         string // of containerd; "k8s.io"
	State             string // "/run/containerd"
	PID               int
	Pod               string // NAMESPACE/NAME/UID
	Name              string // "" is the pod's sandbox
	Image             string
	Privileged        bool
	RootfsPropagation string
	Mounts            []string // DESTINATION SOURCE OPTIONS
}

func writeContainers(t *testing.T, text []byte, write func(string, []byte)) {
	t.Helper()
	var all struct{ Container []container }
	must(t, toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&all))
	for _, c := range all.Container {
		if c.Namespace == "" {
			c.Namespace = "k8s.io"
		}
		if c.State == "" {
			c.State = "/run/containerd"
		}
		dir := fmt.Sprintf("%s/io.containerd.runtime.v2.task/%s/%s/", c.State, c.Namespace, c.ID)
		config, err := json.MarshalIndent(c.spec(), "", " ")
		must(t, err)
		write(dir+"config.json", config)
		if c.PID != 0 {
			write(dir+"init.pid", []byte(strconv.Itoa(c.PID)))
		}
	}
}

// spec is the container's config.json, with the annotations of containerd's CRI
// plugin.
func (c container) spec() any {
	pod := strings.Split(c.Pod+"//", "/")
	annotations := map[string]string{
		"io.kubernetes.cri.sandbox-namespace": pod[0], "io.kubernetes.cri.sandbox-name": pod[1], "io.kubernetes.cri.sandbox-uid": pod[2],
		"io.kubernetes.cri.container-type": "container", "io.kubernetes.cri.container-name": c.Name,
		"io.kubernetes.cri.sandbox-id": c.ID, "io.kubernetes.cri.image-name": c.Image,
	}
	if c.Name == "" {
		annotations["io.kubernetes.cri.container-type"] = "sandbox"
	}
	mode, capability, masked := "ro", "CAP_CHOWN", []string{"/proc/kcore"}
	if c.Privileged {
		mode, capability, masked = "rw", "CAP_SYS_ADMIN", nil
	}
	mounts := []map[string]any{{"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": []string{mode}}}
	for _, m := range c.Mounts {
		f := strings.Fields(m)
		mounts = append(mounts, map[string]any{"destination": f[0], "source": f[1], "type": "bind", "options": strings.Split(f[2], ",")})
	}
	return map[string]any{
		"ociVersion": "1.1.0", "annotations": annotations, "mounts": mounts,
		"process": map[string]any{"capabilities": map[string]any{"bounding": []string{capability}}},
		"linux": map[string]any{
			"rootfsPropagation": c.RootfsPropagation, "maskedPaths": masked,
			"namespaces": []map[string]string{{"type": "mount"}},
			"resources":  map[string]any{"devices": []map[string]any{{"allow": c.Privileged, "access": "rwm"}}},
		},
	}
}

// TestALineStandsForMany.
func TestALineStandsForMany(t *testing.T) {
	got := string(repeat(t, []byte("a\n@repeat 3 {10+n} {n} x{9+n} {k}\nb\n")))
	want := "a\n10 0 x9 {k}\n11 1 x10 {k}\n12 2 x11 {k}\nb\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
