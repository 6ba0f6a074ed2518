//go:build linux

package guard_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/matrix"
	"github.com/mountward/mountward/test/runtime/ward"
)

// service is "mountward run" beside a containerd that launches nothing.
type service struct {
	*guard
	settings, binary string
	within           []string // command that runs the service; nil: none
	cmd              *exec.Cmd
	exited           chan error
}

// startService runs mountward as systemd would, on the socket of a node.
func startService(t *testing.T, policy string) *service {
	t.Helper()
	s := newService(t, ward.Options{Policy: policy, Config: harness.Config{NoLaunch: true}})
	s.launch()
	return s
}

// newService is a node on which no service was started yet.
func newService(t *testing.T, o ward.Options) *service {
	t.Helper()
	harness.NeedsRoot(t)
	dir := t.TempDir()
	w, cfg, err := ward.New(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	suite := harness.New(t, cfg)
	w.Node = suite.Node
	s := &service{guard: &guard{suite, w, t}, settings: filepath.Join(dir, "mountward.toml"), binary: cfg.Plugins["90-mountward"]}
	if err := os.WriteFile(s.settings, []byte(cfg.PluginConf["90-mountward.conf"]), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// launch starts the service, which ends with the test.
func (s *service) launch() {
	t := s.tb
	t.Helper()
	output, err := os.CreateTemp(s.Dir, "output")
	if err != nil {
		t.Fatal(err)
	}
	line := append(slices.Clone(s.within), s.binary, "run", "--config", s.settings, "--socket", s.NRISocket)
	s.cmd = exec.Command(line[0], line[1:]...)
	s.cmd.Stdout, s.cmd.Stderr = output, output
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cmd, exited, ended := s.cmd, make(chan error, 1), make(chan struct{})
	s.exited = exited
	go func() {
		exited <- cmd.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // an error says that it has ended
		<-ended
		_ = output.Close()
		if text, err := os.ReadFile(output.Name()); t.Failed() {
			t.Logf("mountward said (%v):\n%s", err, text)
		}
	})
}

// settled waits until the service has all open that it keeps open besides its
// connection: the socket of the command line, and the watch of the policy files.
func (s *service) settled() {
	s.tb.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		_, err := os.Lstat(filepath.Join(s.Dir, "run", "control.sock"))
		links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", s.cmd.Process.Pid))
		if err == nil && slices.ContainsFunc(links, func(link string) bool {
			to, _ := os.Readlink(link)
			return to == "anon_inode:inotify"
		}) {
			return
		}
		if time.Now().After(end) {
			s.tb.Fatalf("the socket of the command line: %v; %d descriptors", err, len(links))
		}
	}
}

// crash ends the service as nothing can be prepared for.
func (s *service) crash() {
	s.tb.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		s.tb.Fatal(err)
	}
	if err := <-s.exited; err == nil {
		s.tb.Error("it was killed, and ended well")
	}
}

// says waits for a line of the log from some record on.
func (s *service) says(from int, texts ...string) {
	s.tb.Helper()
	_, err := s.Await(s.tb.Context(), from, func(r ward.Record) bool {
		for _, text := range texts {
			if !strings.Contains(r.Message(), text) {
				return false
			}
		}
		return true
	})
	if err != nil {
		s.tb.Fatalf("%q: %v", texts, err)
	}
}

func (s *service) records() int {
	s.tb.Helper()
	all, err := s.Records()
	if err != nil {
		s.tb.Fatal(err)
	}
	return len(all)
}

// end sends a signal and fails the test unless exit code 0 comes of it.
func (s *service) end(signal os.Signal) {
	s.tb.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.tb.Fatal(err)
	}
	select {
	case err := <-s.exited:
		if err != nil {
			s.tb.Errorf("after %v: %v, want exit code 0", signal, err)
		}
	case <-time.After(time.Minute):
		s.tb.Fatalf("%v does not end it", signal)
	}
}

// TestService is the external mode: decides, proves and records as a launched
// plugin does, finds a containerd that comes back, and ends when asked.
func TestService(t *testing.T) {
	dir := harness.TestHostDirs(t).Shared
	s := startService(t, matrix.Policy)
	s.says(0, ward.Synchronized)
	follow := one(dir.Path)
	follow.Namespace = "set-rslave"
	denied := one(dir.Path)
	denied.Namespace = "deny"

	decides := func() string {
		t.Helper()
		id := s.runOne(follow)
		if got := s.Table(id).At("/data").Propagation(); got != "private,slave" {
			t.Errorf("propagation = %s, want private,slave", got)
		}
		s.never("drift", id)
		if _, err := s.tryOne(denied); err == nil || !strings.Contains(err.Error(), `rule "denied"`) {
			t.Errorf("error = %v, want our refusal", err)
		}
		return id
	}
	running := decides()

	for n, stop := range []struct {
		name string
		do   func() error
	}{
		{"restarted", s.Restart},
		{"killed", func() error {
			from := s.records()
			if err := s.Kill9(); err != nil {
				return err
			}
			s.says(from, "no connection to the runtime")
			return s.Restart()
		}},
	} {
		from := s.records()
		if err := stop.do(); err != nil {
			t.Fatalf("%s: %v", stop.name, err)
		}
		s.says(from, "connected to the runtime")
		// What runs on is proved anew, from what was kept.
		s.says(from, ward.Synchronized, fmt.Sprintf("proved=%d", n+1))
		if got := s.cmd.ProcessState; got != nil {
			t.Fatalf("%s: it ended: %v", stop.name, got)
		}
		s.never("drift", running)
		decides()
	}

	s.end(unix.SIGTERM)
	// Without it the node goes on, and nothing is decided.
	if _, err := s.tryOne(denied); err != nil {
		t.Errorf("after it ended: %v", err)
	}
}

// TestServiceEndsWithoutARuntime: also while there is nothing to be connected
// to, and so in the pause between two attempts.
func TestServiceEndsWithoutARuntime(t *testing.T) {
	for _, signal := range []unix.Signal{unix.SIGTERM, unix.SIGINT} {
		t.Run(fmt.Sprint(signal), func(t *testing.T) {
			s := startService(t, auditPolicy)
			s.says(0, ward.Synchronized)
			from := s.records()
			if err := s.Kill9(); err != nil {
				t.Fatal(err)
			}
			s.says(from, "no connection to the runtime")
			s.end(signal)
		})
	}
}
