//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// ran is how one program did several times, and what it printed last.
type ran struct {
	median time.Duration
	most   float64 // resident memory at its highest, in MiB
	stdout []byte
}

// times is how often each program is run.
const times = 5

// meterVariable makes this program one that runs another and tells its memory.
const meterVariable = "MOUNTWARD_BENCH_METER"

// measure runs a program. Any exit code below 64 is an answer.
func measure(program string, args ...string) (r ran, err error) {
	var took []time.Duration
	for range times {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(program, args...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		begun := time.Now()
		err := cmd.Run()
		took = append(took, time.Since(begun))
		if !answered(err) {
			return r, fmt.Errorf("run %s %q: %w: %s", program, args, err, stderr.Bytes())
		}
		r.stdout = stdout.Bytes()
	}
	slices.Sort(took)
	r.median = took[times/2]
	// Until it executes its program a child counts the memory of who started
	// it as its own, which for us is much: a small one starts it.
	cmd := exec.Command("/proc/self/exe", append([]string{program}, args...)...)
	cmd.Env = append(os.Environ(), meterVariable+"=1")
	out, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("measure the memory of %s: %w", program, err)
	}
	kilobytes, err := strconv.Atoi(string(out))
	r.most = float64(kilobytes) / 1024
	return r, err
}

func answered(err error) bool {
	var exit *exec.ExitError
	return err == nil || errors.As(err, &exit) && exit.ExitCode() >= 0 && exit.ExitCode() < 64
}

// becomeMeter runs a program and prints its memory in kilobytes.
func becomeMeter(args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	if err := cmd.Run(); !answered(err) {
		return err
	}
	fmt.Print(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	return nil
}

// verb runs a verb of mountward and reads its JSON.
func verb(answer any, args ...string) (ran, error) {
	binary := os.Getenv("MOUNTWARD")
	if binary == "" {
		binary = "bin/mountward"
	}
	r, err := measure(binary, append(args, "-o", "json")...)
	if err == nil {
		err = json.Unmarshal(r.stdout, answer)
	}
	return r, err
}
