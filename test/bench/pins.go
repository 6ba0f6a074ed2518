//go:build linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	holderVariable = "MOUNTWARD_BENCH_HOLDER"
	held           = "/var/lib/held" // the volume that is unmounted on the host
	mountsEach     = 30              // of a namespace
	oneLetsGo      = 5               // namespaces of so many
)

// runPins measures pins on a node where a volume was unmounted that most of the
// mount namespaces have a private copy of, one of them without a process.
func runPins(spaces int) (err error) {
	if _, err := newHost(); err != nil {
		return err
	}
	device, number, err := heldVolume()
	if err != nil {
		return err
	}
	var processes []*holderProcess
	defer func() {
		for _, p := range processes {
			err = errors.Join(err, p.stop())
		}
	}()
	fmt.Fprintf(os.Stderr, "making %d mount namespaces\n", spaces)
	want := 0
	for i := range spaces {
		how := "hold"
		if i%oneLetsGo == oneLetsGo-1 {
			how = "let go"
		} else {
			want++
		}
		p, err := startHolder(how)
		if err != nil {
			return err
		}
		processes = append(processes, p)
	}
	// One is kept by its file alone.
	file, err := os.Open(fmt.Sprintf("/proc/%d/ns/mnt", processes[0].cmd.Process.Pid))
	if err != nil {
		return err
	}
	defer file.Close()
	if err := processes[0].stop(); err != nil {
		return err
	}
	processes = processes[1:]
	if err := unix.Unmount(held, 0); err != nil {
		return fmt.Errorf("unmount the volume: %w", err)
	}
	return comparePins(fmt.Sprintf("pins.namespaces=%d", spaces), device, number, want)
}

// comparePins measures the three ways to find the holders.
func comparePins(name, device, number string, want int) error {
	var report struct {
		Targets []struct {
			Holders []struct {
				Namespace uint64
				Processes []struct{ PID int }
			}
		}
	}
	pins, err := verb(&report, "pins", number)
	if err != nil {
		return err
	}
	spaces := map[uint64]bool{}
	for _, t := range report.Targets {
		for _, h := range t.Holders {
			spaces[h.Namespace] = true
		}
	}
	if len(spaces) != want {
		return fmt.Errorf("pins found %d namespaces, want %d", len(spaces), want)
	}
	grep, err := measure("sh", "-c", "grep -F ' "+number+" ' /proc/[0-9]*/mountinfo")
	if err != nil {
		return err
	}
	figure(name+".holders", float64(want), "namespaces")
	figure(name, us(pins.median)/1000, "ms")
	figure(name+".found", float64(len(spaces)), "namespaces")
	figure(name+".peak-rss", pins.most, "MiB")
	figure(name+".grep", us(grep.median)/1000, "ms")
	figure(name+".grep.found", float64(bytes.Count(grep.stdout, []byte("\n"))), "lines")
	figure(name+".over-grep", ratio(pins.median, grep.median), "x")
	if _, err := exec.LookPath("fuser"); err != nil {
		fmt.Fprintln(os.Stderr, "no figures of fuser: it is not installed (package psmisc)")
		return nil
	}
	fuser, err := measure("fuser", "-vm", device)
	if err != nil {
		return err
	}
	figure(name+".fuser", us(fuser.median)/1000, "ms")
	figure(name+".fuser.found", float64(len(bytes.Fields(fuser.stdout))), "processes")
	figure(name+".over-fuser", ratio(pins.median, fuser.median), "x")
	return nil
}

// heldVolume mounts the volume that is asked about, the last of the mounts that
// each namespace gets.
func heldVolume() (device, number string, err error) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", "", err
	}
	// The host has more disks than are needed.
	have := bytes.Count(table, []byte("\n"))
	for i := 1; i < disks; i++ {
		if have < mountsEach {
			break
		}
		if err := unix.Unmount(disk(i), 0); err != nil {
			return "", "", err
		}
		have--
	}
	for i := 0; have < mountsEach-1; i++ {
		at := fmt.Sprintf("/var/lib/volume-%d", i)
		if err := errors.Join(os.Mkdir(at, 0o755), unix.Mount("volume", at, "tmpfs", 0, "")); err != nil {
			return "", "", err
		}
		have++
	}
	if err := os.Mkdir(held, 0o755); err != nil {
		return "", "", err
	}
	if err := unix.Mount(disk(0), held, "", unix.MS_MOVE, ""); err != nil {
		return "", "", fmt.Errorf("move a volume to %s: %w", held, err)
	}
	if table, err = os.ReadFile("/proc/self/mountinfo"); err != nil {
		return "", "", err
	}
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if len(fields) > 9 && fields[4] == held {
			return fields[len(fields)-2], fields[2], nil
		}
	}
	return "", "", errors.New("the volume is not mounted")
}

// holderProcess is alone in a mount namespace.
type holderProcess struct {
	cmd   *exec.Cmd
	stdin io.Closer
}

func startHolder(how string) (*holderProcess, error) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), holderVariable+"="+how)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		return nil, fmt.Errorf("start process: it said %q: %w", line, err)
	}
	return &holderProcess{cmd, stdin}, nil
}

func (p *holderProcess) stop() error { return errors.Join(p.stdin.Close(), p.cmd.Wait()) }

// becomeHolder is such a process: its mounts are private copies of the host's.
func becomeHolder(how string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if how != "hold" {
		if err := unix.Unmount(held, 0); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}
