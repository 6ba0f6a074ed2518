//go:build linux

// Command agent is the only program of the images of test/runtime. It is
// static, so that an image needs no other file, and does one small thing a
// call: what a container sees and can do is read from its output.
package main

import (
	"fmt"
	"io"
	"os"
	"sort"
)

// A command is one verb of the agent: what follows the verb, and what it does.
type command struct {
	usage string
	args  int
	run   func(out io.Writer, args []string) error
}

func commands() map[string]command {
	return map[string]command{
		"pause":       {"", 0, pause},
		"report":      {"FILE", 1, report},
		"ls":          {"DIR", 1, list},
		"cat":         {"FILE", 1, cat},
		"write":       {"FILE TEXT", 2, write},
		"mkdir":       {"DIR", 1, mkdir},
		"hold":        {"FILE", 1, hold},
		"mountinfo":   {"", 0, mountinfo},
		"mount-tmpfs": {"DIR", 1, mountTmpfs},
		"umount":      {"DIR", 1, umount},
	}
}

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}

// run does the verb args[0]. An image has one entry point for containers and
// for the sandbox, whose image gives no arguments: no verb is pause.
func run(out io.Writer, args []string) error {
	if len(args) == 0 {
		args = []string{"pause"}
	}
	all := commands()
	c, ok := all[args[0]]
	if !ok {
		names := make([]string, 0, len(all))
		for name := range all {
			names = append(names, name)
		}
		sort.Strings(names)
		return fmt.Errorf("run %q: no such command, have %q", args[0], names)
	}
	if len(args)-1 != c.args {
		return fmt.Errorf("run %s: want arguments %q, have %d", args[0], c.usage, len(args)-1)
	}
	return c.run(out, args[1:])
}
