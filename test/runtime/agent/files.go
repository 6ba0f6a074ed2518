//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
)

// list prints the names in a directory, one a line, sorted.
func list(out io.Writer, args []string) error {
	entries, err := os.ReadDir(args[0])
	if err != nil {
		return fmt.Errorf("list directory: %w", err)
	}
	for _, e := range entries {
		fmt.Fprintln(out, e.Name())
	}
	return nil
}

func cat(out io.Writer, args []string) error {
	f, err := os.Open(args[0])
	if err != nil {
		return fmt.Errorf("read file: %w", err)
	}
	defer f.Close()
	if _, err := io.Copy(out, f); err != nil {
		return fmt.Errorf("read file: %w", err)
	}
	return nil
}

// write makes or replaces a file that holds exactly the text.
func write(_ io.Writer, args []string) error {
	if err := os.WriteFile(args[0], []byte(args[1]), 0o644); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}

func mkdir(_ io.Writer, args []string) error {
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	return nil
}

// hold keeps a file open until SIGTERM: the mount below it is busy.
func hold(out io.Writer, args []string) error {
	f, err := os.Open(args[0])
	if err != nil {
		return fmt.Errorf("hold file: %w", err)
	}
	defer f.Close()
	return pause(out, nil)
}
