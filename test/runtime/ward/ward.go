//go:build linux

// Package ward runs mountward on a node of the harness: the built binary,
// launched by containerd, with a policy and settings of the test's.
package ward

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mountward/mountward/test/runtime/harness"
)

// patience bounds what should take milliseconds, or the 15 s after which a runtime
// that does not configure us is given up.
const patience = time.Minute

// Binary returns the built mountward: $MOUNTWARD or bin/mountward of the
// checkout, found upwards from the working directory.
func Binary() (string, error) {
	if path := os.Getenv("MOUNTWARD"); path != "" {
		return path, nil
	}
	return built("mountward", "build")
}

// Faults returns the build of mountward that goes wrong where the file "fault"
// in its runtime directory says so: plugin/fault_on.go.
func Faults() (string, error) { return built("mountward-faults", "build-faults") }

func built(name, target string) (string, error) {
	dir, err := os.Getwd()
	for ; err == nil && dir != "/"; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, "bin", name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", fmt.Errorf("find bin/%s: not there; run make %s first", name, target)
}

// Options are what differs between wards.
type Options struct {
	Policy   string // text of the policy file; "" leaves the file out
	Settings string // added to the settings
	Raw      string // in place of all settings
	Binary   string // "" is Binary()
	Plugins  map[string]string
	harness.Config
}

// Ward is a node with mountward on it.
type Ward struct {
	Node   *harness.Node
	Dir    string // of the files below
	Policy string // path
	Audit  string // path of the trail
}

// New writes the files of a ward below dir and returns it with the
// configuration for its node, which the caller starts and puts into Node.
func New(dir string, o Options) (*Ward, harness.Config, error) {
	w := &Ward{Dir: dir, Policy: filepath.Join(dir, "policy.toml"), Audit: filepath.Join(dir, "audit.jsonl")}
	cfg := o.Config
	binary := o.Binary
	var err error
	if binary == "" {
		if binary, err = Binary(); err != nil {
			return nil, cfg, err
		}
	}
	if o.Policy != "" {
		if err := w.WritePolicy(o.Policy); err != nil {
			return nil, cfg, err
		}
	}
	text := o.Raw
	if text == "" {
		text = fmt.Sprintf("policy = %q\nstate_dir = %q\nruntime_dir = %q\naudit.journal = false\naudit.file = %q\n%s\n",
			w.Policy, filepath.Join(dir, "state"), filepath.Join(dir, "run"), w.Audit, o.Settings)
	}
	cfg.Plugins = map[string]string{"90-mountward": binary}
	for name, path := range o.Plugins {
		cfg.Plugins[name] = path
	}
	cfg.PluginConf = map[string]string{"90-mountward.conf": text}
	return w, cfg, nil
}

// Start is New and a started node.
func Start(dir string, o Options) (*Ward, error) {
	w, cfg, err := New(dir, o)
	if err != nil {
		return nil, err
	}
	if w.Node, err = harness.Start(cfg); err != nil {
		return nil, err
	}
	return w, nil
}

// WritePolicy replaces the policy file.
func (w *Ward) WritePolicy(text string) error {
	if err := os.WriteFile(w.Policy+".new", []byte(text), 0o600); err != nil {
		return fmt.Errorf("write policy: %w", err)
	}
	return os.Rename(w.Policy+".new", w.Policy)
}

// Reload sends SIGHUP and waits for the record of what came of the policy file as
// it is now: the daemon finds it by itself as well, and then loads it twice.
func (w *Ward) Reload(ctx context.Context) (Record, error) {
	text, err := os.ReadFile(w.Policy)
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	info, err := os.Stat(w.Policy)
	if err != nil {
		return nil, fmt.Errorf("look at policy: %w", err)
	}
	renamed := time.Unix(info.Sys().(*syscall.Stat_t).Ctim.Unix())
	before, err := w.Records()
	if err != nil {
		return nil, err
	}
	pid, err := w.PluginPID()
	if err != nil {
		return nil, err
	}
	if err := syscall.Kill(pid, syscall.SIGHUP); err != nil {
		return nil, fmt.Errorf("send SIGHUP to process %d: %w", pid, err)
	}
	return w.Await(ctx, len(before), func(r Record) bool {
		stamp, _ := r["time"].(string)
		at, err := time.Parse(time.RFC3339Nano, stamp)
		if err != nil || at.Before(renamed) {
			return false
		}
		return r.Event() == "policy-rejected" ||
			r.Event() == "policy-loaded" && r.At("policy", "sha256") == fmt.Sprintf("%x", sha256.Sum256(text))
	})
}

// PluginPID returns the process that containerd launched.
func (w *Ward) PluginPID() (int, error) { return Launched(w.Node.PID()) }

// Launched returns the process of mountward that a runtime launched.
func Launched(runtime int) (int, error) {
	want := strconv.Itoa(runtime)
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		name, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		if strings.HasSuffix(name, "(90-mountward") && len(fields) > 1 && fields[0] != "Z" && fields[1] == want {
			return strconv.Atoi(filepath.Base(filepath.Dir(file)))
		}
	}
	return 0, errors.New("find the launched plugin: no such process")
}

// Record is one line of the trail.
type Record map[string]any

// Event is the kind of the record: "decision" of "mountward.decision/v1".
func (r Record) Event() string {
	schema, _ := r["schema"].(string)
	name, _, _ := strings.Cut(strings.TrimPrefix(schema, "mountward."), "/")
	return name
}

// Synchronized is in the message that ends a synchronization, and in no other:
// the record of the connection, which comes first, says "synchronized with the
// runtime" too.
const Synchronized = "synchronized with the runtime (missed="

// Message is the record for people.
func (r Record) Message() string {
	m, _ := r["message"].(string)
	return m
}

// ContainerID is the container the record is about, or "".
func (r Record) ContainerID() string {
	id, _ := r.At("container", "id").(string)
	return id
}

// At follows member names and list indexes into the record.
func (r Record) At(path ...any) any {
	var at any = map[string]any(r)
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, _ := at.(map[string]any)
			at = m[s]
		case int:
			l, _ := at.([]any)
			if s >= len(l) {
				return nil
			}
			at = l[s]
		}
	}
	return at
}

// Records returns the whole trail.
func (w *Ward) Records() ([]Record, error) {
	text, err := os.ReadFile(w.Audit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read trail: %w", err)
	}
	var all []Record
	for line := range bytes.Lines(text) {
		var r Record
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // being written
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("read trail: %w in %q", err, line)
		}
		all = append(all, r)
	}
	return all, nil
}

// Await returns the first record from the given place on that fits, and waits
// for it: the trail is written behind the handlers.
func (w *Ward) Await(ctx context.Context, from int, fits func(Record) bool) (Record, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		all, err := w.Records()
		if err != nil {
			return nil, err
		}
		for _, r := range all[min(from, len(all)):] {
			if fits(r) {
				return r, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for a record: none of %d fits: %w", len(all), ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Of fits records of one kind about one container.
func Of(event, container string) func(Record) bool {
	return func(r Record) bool { return r.Event() == event && r.ContainerID() == container }
}
