//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// unprotected leaves out what a kernel does against attackers, of whom there are
// none: emulated, it takes a quarter of the time.
const unprotected = "mitigations=off hardened_usercopy=off init_on_alloc=0 randomize_kstack_offset=off nokaslr audit=0 transparent_hugepage=always"

// boot runs the machine until it powers itself off, shows its console
// meanwhile, and judges what it brought back. A machine that hangs is killed.
func (n *node) boot(ctx context.Context, accel string) error {
	if err := os.RemoveAll(n.results); err != nil {
		return fmt.Errorf("remove old results: %w", err)
	}
	console, err := create(filepath.Join(n.results, "console"), 0o644)
	if err != nil {
		return err
	}
	defer console.Close()

	ctx, cancel := context.WithTimeoutCause(ctx, n.timeout, fmt.Errorf("the machine was not off after %s", n.timeout))
	defer cancel()
	cmd := newCommand(ctx, "qemu-system-x86_64",
		"-machine", "q35", "-cpu", "max", "-smp", "2", "-m", "2048", "-accel", accel,
		"-nodefaults", "-no-user-config", "-display", "none", "-serial", "stdio", "-no-reboot",
		"-nic", "none", "-device", "virtio-rng-pci",
		"-kernel", n.kernel(), "-initrd", n.initialRAMFS(),
		"-append", "root=/dev/vda rw console=ttyS0 quiet panic=-1 systemd.show_status=0 "+unprotected,
		"-drive", "if=virtio,format=raw,cache=unsafe,file="+n.disk(),
		"-drive", "if=virtio,format=raw,cache=unsafe,file="+n.resultsDisk(),
	)
	output, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start qemu: %w", err)
	}
	show(output, console)
	if err := cmd.Wait(); err != nil {
		return errors.Join(fmt.Errorf("run qemu: %w", err), context.Cause(ctx))
	}
	return n.judge()
}

// show copies a console to ours and to a file, without what would move a cursor.
func show(from io.Reader, to io.Writer) {
	controls := regexp.MustCompile(`\r|\x1b\][^\a\x1b]*(\a|\x1b\\)?|\x1b(\[[!?0-9;]*)?[^\[\]]`)
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		line = controls.ReplaceAllString(line, "")
		fmt.Fprint(to, line)
		if line != "" {
			fmt.Print("   | ", strings.TrimSuffix(line, "\n"), "\n")
		}
		if err != nil {
			return // the machine is off, or was killed: Wait tells
		}
	}
}
