//go:build linux

package guard_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// keeper is a node whose containerd requires mountward, and a daemon of it that
// comes and goes.
type keeper struct {
	*guard
	binary, settings string
	daemon           *command // nil: none runs
	dir              string   // of the host, which containers ask for with Bidirectional
}

const requiredMountward = `
[plugins.'io.containerd.nri.v1.nri'.default_validator]
enable = true
required_plugins = ["mountward"]
`

func startKeeper(t *testing.T) *keeper {
	t.Helper()
	harness.NeedsRoot(t)
	dir := t.TempDir()
	w, cfg, err := ward.New(dir, ward.Options{Policy: goodPolicy, Config: harness.Config{NoLaunch: true, TOML: requiredMountward}})
	if err != nil {
		t.Fatal(err)
	}
	suite := harness.New(t, cfg)
	w.Node = suite.Node
	k := &keeper{guard: &guard{suite, w, t}, binary: cfg.Plugins["90-mountward"], settings: filepath.Join(dir, "mountward.toml")}
	if err := os.WriteFile(k.settings, []byte(cfg.PluginConf["90-mountward.conf"]), 0o600); err != nil {
		t.Fatal(err)
	}
	return k
}

// command is a process of mountward.
type command struct {
	cmd    *exec.Cmd
	output bytes.Buffer // complete when it has ended
	ended  chan struct{}
}

// begin runs mountward in the background until the test ends.
func (k *keeper) begin(args ...string) *command {
	k.tb.Helper()
	c := &command{cmd: exec.Command(k.binary, append(args, "--config", k.settings)...), ended: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = &c.output, &c.output
	if err := c.cmd.Start(); err != nil {
		k.tb.Fatal(err)
	}
	go func() {
		_ = c.cmd.Wait() // its state has the exit code
		close(c.ended)
	}()
	k.tb.Cleanup(func() {
		_ = c.cmd.Process.Kill() // an error says that it has ended
		<-c.ended
		if k.tb.Failed() {
			k.tb.Logf("mountward %s said:\n%s", strings.Join(args, " "), c.output.String())
		}
	})
	return c
}

// end waits for the end and returns the exit code.
func (c *command) end(t *testing.T) int {
	t.Helper()
	select {
	case <-c.ended:
	case <-time.After(time.Minute):
		t.Fatal("mountward does not end")
	}
	return c.cmd.ProcessState.ExitCode()
}

// run starts the daemon and waits until it takes part.
func (k *keeper) run() {
	k.tb.Helper()
	k.daemon = k.begin("run", "--socket", k.NRISocket)
	k.until("status --ready", func() bool { _, code := k.mountward("status", "--ready"); return code == 0 })
}

// kill kills the daemon, and nothing else, as a crash does.
func (k *keeper) kill() {
	k.tb.Helper()
	if err := k.daemon.cmd.Process.Kill(); err != nil {
		k.tb.Fatal(err)
	}
	<-k.daemon.ended
	k.daemon = nil
}

// mountward runs a verb and returns what it prints and its exit code.
func (k *keeper) mountward(args ...string) (output string, code int) {
	k.tb.Helper()
	text, err := exec.Command(k.binary, append(args, "--config", k.settings)...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		k.tb.Fatal(err)
	}
	if exit != nil {
		code = exit.ExitCode()
	}
	return string(text), code
}

func (k *keeper) until(what string, holds func() bool) {
	k.tb.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			k.tb.Fatalf("%s: not within a minute", what)
		}
	}
}

// bidirectional is what the policy denies.
func (k *keeper) bidirectional() harness.Pod {
	pod := one(k.dir)
	pod.Containers[0].Privileged = true
	pod.Containers[0].Mounts[0].Propagation = harness.Bidirectional
	return pod
}

// want says what becomes of a container that the policy denies: it starts, or is
// refused with this in the message.
func (k *keeper) want(t *testing.T, when, refusal string) {
	t.Helper()
	_, err := k.tryOne(k.bidirectional())
	switch {
	case refusal == "" && err != nil:
		t.Errorf("%s: %v, want it to start", when, err)
	case refusal != "" && (err == nil || !strings.Contains(err.Error(), refusal)):
		t.Errorf("%s: error %v, want %q", when, err, refusal)
	}
}

// status returns the document.
func (k *keeper) status(t *testing.T) (ward.Record, int) {
	t.Helper()
	text, code := k.mountward("status", "-o", "json")
	var r ward.Record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("status (%d): %v in %s", code, err, text)
	}
	return r, code
}

// emergencies returns how many records of an emergency's begin and end there are,
// and fails the test if one is no error.
func (k *keeper) emergencies(t *testing.T) (begun, ended int) {
	t.Helper()
	for _, r := range mustRecords(t, k.Ward) {
		if r.Event() != "emergency" {
			continue
		}
		if r.At("begins") == true {
			begun++
		} else {
			ended++
		}
	}
	return begun, ended
}

// TestEmergencyOfALivingDaemon: what the policy refuses is created meanwhile, also
// by a daemon that was killed and comes back, and refused afterwards.
func TestEmergencyOfALivingDaemon(t *testing.T) {
	k := startKeeper(t)
	k.dir = harness.TestHostDirs(t).Shared.Path
	k.run()
	if s, code := k.status(t); code != 0 || s.At("connection", "synchronized") != true {
		t.Errorf("status %d: %v", code, s)
	}
	k.want(t, "before", `rule "no-shared"`)

	if out, code := k.mountward("emergency", "--for", "1h"); code != 0 || !strings.Contains(out, "EMERGENCY: the daemon stands aside until") {
		t.Errorf("emergency: %d, %s", code, out)
	}
	k.want(t, "during", "")
	if s, code := k.status(t); code != 1 || s.At("problems", 0, "line") != "aside" || s.At("aside", "until") == nil {
		t.Errorf("status %d: %v", code, s)
	}
	if _, code := k.mountward("status", "--ready"); code != 0 {
		t.Errorf("ready: %d, want 0: it answers every request", code)
	}

	k.kill()
	k.want(t, "killed", `required plugin "mountward"`)
	k.run()
	k.want(t, "back, still during", "")
	if out, code := k.mountward("emergency", "--end"); code != 0 {
		t.Errorf("end: %d, %s", code, out)
	}
	k.want(t, "ended", `rule "no-shared"`)
	if out, code := k.mountward("emergency", "--end"); code != 1 || !strings.Contains(out, "no emergency to end") {
		t.Errorf("end again: %d, %s", code, out)
	}

	// The time is up by itself.
	if out, code := k.mountward("emergency", "--for", "1s"); code != 0 {
		t.Errorf("emergency: %d, %s", code, out)
	}
	k.until("the time is up", func() bool { _, code := k.mountward("status"); return code == 0 })
	k.want(t, "time is up", `rule "no-shared"`)
	k.until("four records", func() bool { begun, ended := k.emergencies(t); return begun == 3 && ended == 2 })
}

// TestEmergencyWithoutADaemon: containerd refuses everything, and the command
// stands in until it is stopped, ended, or its time is up; a containerd that is
// restarted meanwhile is no end, and a daemon that is started stands aside.
func TestEmergencyWithoutADaemon(t *testing.T) {
	k := startKeeper(t)
	k.dir = harness.TestHostDirs(t).Shared.Path
	const missing = `required plugin "mountward"`
	k.want(t, "without a daemon", missing)

	standIn := func(length string) *command {
		t.Helper()
		before, _ := k.emergencies(t)
		c := k.begin("emergency", "--for", length, "--socket", k.NRISocket)
		k.until("it stands in", func() bool {
			begun, _ := k.emergencies(t)
			_, err := k.tryOne(k.bidirectional())
			return begun > before && err == nil
		})
		return c
	}
	c := standIn("1h")
	if out, code := k.mountward("status"); code != 2 || !strings.Contains(out, "an emergency is on until") {
		t.Errorf("status: %d, %s", code, out)
	}
	if err := k.Restart(); err != nil {
		t.Fatal(err)
	}
	k.until("it stands in again", func() bool { _, err := k.tryOne(k.bidirectional()); return err == nil })

	k.run()
	k.want(t, "beside a daemon", "")
	// What the daemon is asked for meanwhile is not over with the command.
	if out, code := k.mountward("emergency", "--for", "2h"); code != 0 {
		t.Errorf("emergency beside a stand-in: %d, %s", code, out)
	}
	if err := c.cmd.Process.Signal(unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := c.end(t); code != 0 {
		t.Errorf("interrupted beside a daemon: exit code %d", code)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(k.settings), "run", "emergency.json")); err != nil {
		t.Errorf("the end of the stand-in ended the daemon's emergency: %v", err)
	}
	if out, code := k.mountward("emergency", "--end"); code != 0 {
		t.Errorf("end: %d, %s", code, out)
	}
	k.kill()
	c = standIn("1h")

	if err := c.cmd.Process.Signal(unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := c.end(t); code != 0 {
		t.Errorf("interrupted: exit code %d", code)
	}
	k.want(t, "interrupted", missing)

	c = standIn("1h")
	if out, code := k.mountward("emergency", "--end"); code != 0 {
		t.Errorf("end: %d, %s", code, out)
	}
	if code := c.end(t); code != 0 {
		t.Errorf("ended: exit code %d", code)
	}
	k.want(t, "ended", missing)

	for length := 2 * time.Second; ; length *= 2 { // to register can take a busy machine longer
		c = k.begin("emergency", "--for", length.String(), "--socket", k.NRISocket)
		if code := c.end(t); code != 0 {
			t.Errorf("time is up: exit code %d, %s", code, c.output.String())
		}
		if strings.Contains(c.output.String(), "EMERGENCY: registered as 90-mountward") {
			break
		}
		if length > 20*time.Second {
			t.Fatalf("it does not register: %s", c.output.String())
		}
	}
	k.want(t, "time is up", missing)
	if left, _ := filepath.Glob(filepath.Join(k.Dir, "run", "*emergency*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	k.run()
	k.want(t, "with a daemon", `rule "no-shared"`)
}

// TestEmergencyWhileTheDaemonHangs: the command waits for it, stands in, and the
// daemon stands aside once it is back.
func TestEmergencyWhileTheDaemonHangs(t *testing.T) {
	k := startKeeper(t)
	k.dir = harness.TestHostDirs(t).Shared.Path
	k.run()
	k.want(t, "before", `rule "no-shared"`)
	if err := k.daemon.cmd.Process.Signal(unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if _, err := k.tryOne(k.bidirectional()); err == nil {
		t.Error("it starts while the daemon hangs")
	}
	c := k.begin("emergency", "--for", "1h", "--socket", k.NRISocket)
	k.until("it stands in", func() bool { _, err := k.tryOne(k.bidirectional()); return err == nil })
	if err := k.daemon.cmd.Process.Signal(unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	k.until("the daemon stands aside", func() bool {
		s, _ := k.status(t)
		return s.At("aside") != nil && s.At("connection", "synchronized") == true
	})
	k.want(t, "back, still during", "")
	if err := c.cmd.Process.Signal(unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := c.end(t); code != 0 {
		t.Errorf("interrupted: exit code %d", code)
	}
	k.until("the daemon decides again", func() bool { _, code := k.mountward("status"); return code == 0 })
	k.want(t, "afterwards", `rule "no-shared"`)
}

// TestEmergencyWithoutARuntime is a clear error at once.
func TestEmergencyWithoutARuntime(t *testing.T) {
	k := startKeeper(t)
	out, code := k.mountward("emergency", "--for", "1h", "--socket", filepath.Join(k.Dir, "none.sock"))
	if code != 1 || !strings.Contains(out, "is containerd running") {
		t.Errorf("%d, %s", code, out)
	}
	if begun, _ := k.emergencies(t); begun != 0 {
		t.Errorf("%d emergencies were recorded", begun)
	}
}
