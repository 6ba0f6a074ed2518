//go:build linux

package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Binaries are the programs of a node, as absolute paths.
type Binaries struct {
	Containerd  string
	Shim        string
	Ctr         string
	Runc        string
	Agent       string // the program of the test image, static
	EmptyPlugin string // an NRI plugin that changes nothing
	MountPlugin string // an NRI plugin that sets a mount
}

// Build builds the programs of a node below bin/ of this module, unless they
// are there for the same go.mod and sources, and reports progress on w. It
// needs Go and, for runc, a C compiler. Processes that build at the same time
// wait for each other.
func Build(w io.Writer) (*Binaries, error) {
	module, err := moduleDir()
	if err != nil {
		return nil, err
	}
	bin := filepath.Join(module, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return nil, fmt.Errorf("make directory of programs: %w", err)
	}
	unlock, err := lock(filepath.Join(bin, ".lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()

	tools := &program{module: module, bin: bin, kind: "node", inputs: []string{"go.mod"}, flags: versionFlag}
	toolDir, err := tools.build(w, []string{"tool"}, nil)
	if err != nil {
		return nil, err
	}
	own := &program{module: module, bin: bin, kind: "own", inputs: []string{"go.mod", "agent", "emptyplugin", "mountplugin"}}
	ownDir, err := own.build(w, []string{"./agent", "./emptyplugin", "./mountplugin"}, []string{"CGO_ENABLED=0"})
	if err != nil {
		return nil, err
	}
	return &Binaries{
		Containerd:  filepath.Join(toolDir, "containerd"),
		Shim:        filepath.Join(toolDir, "containerd-shim-runc-v2"),
		Ctr:         filepath.Join(toolDir, "ctr"),
		Runc:        filepath.Join(toolDir, "runc"),
		Agent:       filepath.Join(ownDir, "agent"),
		EmptyPlugin: filepath.Join(ownDir, "emptyplugin"),
		MountPlugin: filepath.Join(ownDir, "mountplugin"),
	}, nil
}

// program is a set of programs that are built together and kept in a directory
// named by the hash of what they are built from.
type program struct {
	module, bin, kind string
	inputs            []string // files and directories of the module
	flags             string   // of the linker
	args              []string // of go build
}

// versionFlag has containerd tell plugins its version as a release does.
const versionFlag = "-X github.com/containerd/containerd/v2/version.Version=v2.4.2"

func (p *program) build(w io.Writer, packages, env []string) (string, error) {
	sum, err := p.hash()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(p.bin, p.kind+"-"+sum)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("look for programs: %w", err)
	}
	fmt.Fprintf(w, "harness: building %v, the first time takes minutes\n", packages)
	partial := dir + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return "", fmt.Errorf("remove unfinished build: %w", err)
	}
	args := slices.Concat([]string{"build", "-ldflags=-s -w " + p.flags, "-o", partial + "/"}, p.args, packages)
	cmd := exec.Command("go", args...)
	cmd.Dir = p.module
	cmd.Env = append(append(os.Environ(), "GOWORK=off"), env...)
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build %v: %w", packages, err)
	}
	if err := os.Rename(partial, dir); err != nil {
		return "", fmt.Errorf("keep programs: %w", err)
	}
	fmt.Fprintf(w, "harness: built %s\n", dir)
	return dir, p.prune(dir)
}

// prune removes what was built from other inputs.
func (p *program) prune(keep string) error {
	old, err := filepath.Glob(filepath.Join(p.bin, p.kind+"-*"))
	if err != nil {
		return fmt.Errorf("list programs: %w", err)
	}
	for _, dir := range old {
		if dir == keep {
			continue
		}
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove old programs: %w", err)
		}
	}
	return nil
}

// hash tells one set of inputs from another by the content of every file.
func (p *program) hash() (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, strings.Join(append([]string{p.flags}, p.args...), " "))
	for _, input := range p.inputs {
		err := filepath.WalkDir(filepath.Join(p.module, input), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(h, "%s %d\n", d.Name(), len(data))
			h.Write(data)
			return nil
		})
		if err != nil {
			return "", fmt.Errorf("hash %s: %w", input, err)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:12], nil
}

// lock waits until no other process builds.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open build lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}
