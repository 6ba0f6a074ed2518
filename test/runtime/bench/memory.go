//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mountward/mountward/test/runtime/adapt"
)

// binarySize prints how large the binary is.
func binarySize(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("size of binary: %w", err)
	}
	figure("binary.size", float64(info.Size())/(1<<20), "MiB", "under 16")
	return nil
}

// memory measures the resident memory of a launched plugin that was just
// started: after 200 creations, and with 500 tasks known.
func (b *bench) memory(ctx context.Context, label string) error {
	w, r, err := b.launch()
	if err != nil {
		return err
	}
	return errors.Join(known(ctx, side{"mountward", r}, label), r.Stop(), os.RemoveAll(w.Dir))
}

// known makes tasks known and does not remove them.
func known(ctx context.Context, s side, label string) error {
	pid, err := pluginPID(s.Runtime)
	if err != nil {
		return err
	}
	for i := 1; i <= 500; i++ {
		if _, err := s.create(ctx, newTask(binds())); err != nil {
			return fmt.Errorf("create: %w", err)
		}
		name := map[int]string{200: "after-200-creations", 500: "with-500-tasks"}[i]
		if name == "" {
			continue
		}
		if err := resident(pid, "memory."+name, label); err != nil {
			return err
		}
	}
	return nil
}

// resident prints what of a process is in memory: all of it, and what no file
// can give back.
func resident(pid int, name, label string) error {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return fmt.Errorf("memory of the plugin: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "VmRSS:" && fields[0] != "RssAnon:" {
			continue
		}
		kib, err := strconv.Atoi(fields[1])
		if err != nil {
			return fmt.Errorf("memory of the plugin: %w", err)
		}
		budget := ""
		if fields[0] == "VmRSS:" {
			budget = "under 20"
		}
		figure(fmt.Sprintf("%s.%s.%s", name, strings.TrimSuffix(fields[0], ":"), label), float64(kib)/1024, "MiB", budget)
	}
	return nil
}

// pluginPID finds the mountward that a runtime launched: a child of ours by
// the link in its plugin directory.
func pluginPID(r *adapt.Runtime) (int, error) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return 0, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it ended meanwhile
		}
		name, _, _ := bytes.Cut(text, []byte{0})
		if string(name) == filepath.Join(r.PluginDir, "90-mountward") {
			return strconv.Atoi(filepath.Base(filepath.Dir(file)))
		}
	}
	return 0, errors.New("find the launched plugin: no such process")
}
