package main

import (
	"fmt"
	"os"
	"regexp"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes this program the mountward of the scripts, and the one that is
// to crash.
func TestMain(m *testing.M) {
	if config := os.Getenv(crashTest); config != "" {
		crash(config, os.Getenv(crashHow))
	}
	testscript.Main(m, map[string]func(){"mountward": main})
}

// TestScripts holds the command line to its contract: output, messages and exit
// codes.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../test/scripts",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exitcode": exitCode,
			"await":    await,
			"answers":  answers,
			"expand":   expand,
			"sigterm":  signals(syscall.SIGTERM),
			"sighup":   signals(syscall.SIGHUP),
		},
		Condition: condition,
	})
}

// condition is what scripts can ask about the machine: [root].
func condition(name string) (bool, error) {
	if name == "root" {
		return os.Geteuid() == 0, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

// exitCode runs a command that must end with the exit code: exitcode CODE
// COMMAND ARG...
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode CODE COMMAND ARG...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = regexp.MustCompile(`\d+$`).FindString(err.Error()) // exit status N
	}
	if code != args[0] {
		ts.Fatalf("exit code %s (%v), want %s", code, err, args[0])
	}
}

// expand copies a file with the variables in it replaced: expand FROM TO.
func expand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: expand FROM TO")
	}
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// signals sends a signal that the kill of testscript does not know to what runs
// in the background.
func signals(signal os.Signal) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, _ []string) {
		for _, cmd := range ts.BackgroundCmds() {
			ts.Check(cmd.Process.Signal(signal))
		}
	}
}

// await waits until a file has a text: await FILE REGEXP.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await FILE REGEXP")
	}
	want := regexp.MustCompile(args[1])
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		if err != nil && !os.IsNotExist(err) {
			ts.Fatalf("%v", err)
		}
		if want.Match(text) {
			return
		}
	}
	ts.Fatalf("%s has no %s", args[0], args[1])
}

// answers waits until the daemon of a file with settings answers: answers FILE.
// Its first records come before that.
func answers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: answers FILE")
	}
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if err = ts.Exec("mountward", "status", "--live", "--config", ts.MkAbs(args[0])); err == nil {
			return
		}
	}
	ts.Fatalf("no daemon answers: %v", err)
}
