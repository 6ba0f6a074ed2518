//go:build linux

package guest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// publishedLV is a logical volume that a driver has published for a pod. The
// test unmounts and removes it; where it fails, the end of the test does.
type publishedLV struct {
	*stack
	name   string // VG/LV
	device string
	path   string
}

func (s *stack) publish(pv, uid, fsType string) *publishedLV {
	s.Helper()
	size := map[string]string{"ext4": "16M", "xfs": "320M"}[fsType]
	v := &publishedLV{stack: s, name: "vg0/" + pv, device: "/dev/vg0/" + pv, path: s.target(uid, pv)}
	v.create("--size", size)
	s.mkfs(fsType, v.device)
	s.do("mount", "--types", fsType, v.device, v.path)
	s.Cleanup(func() {
		err := unix.Unmount(v.path, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
		if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) { // not mounted, or removed
			s.Error(err)
		}
	})
	return v
}

// create makes a logical volume that the test is to remove.
func (v *publishedLV) create(args ...string) {
	v.Helper()
	vg, lv, _ := strings.Cut(v.name, "/")
	v.do("lvcreate", append([]string{"--quiet", "--yes", "--name", lv, vg}, args...)...)
	v.Cleanup(func() {
		if _, err := os.Stat(v.device); err != nil {
			return
		}
		if _, err := run("lvremove", "--quiet", "--force", "--yes", v.name); err != nil {
			v.Error(err)
		}
	})
}

// unmount is the host's, with the error that it must have.
func (v *publishedLV) unmount(want error) {
	v.Helper()
	if err := unix.Unmount(v.path, unix.UMOUNT_NOFOLLOW); !errors.Is(err, want) {
		v.Fatalf("unmount of %s: %v, want %v", v.path, err, want)
	}
}

// busy wants the volume to be one that cannot be removed.
func (v *publishedLV) busy() {
	v.Helper()
	out, err := run("lvremove", "--quiet", "--yes", v.name)
	if err == nil {
		v.Fatalf("lvremove of %s works, so nothing is shown here: %s", v.name, out)
	}
	v.Logf("lvremove fails: %s", lastLine(err.Error()))
}

// holds runs a script as a process of its own, which must print a line when it
// has done its work, and go on.
func (s *stack) holds(script string, args ...string) *exec.Cmd {
	s.Helper()
	return s.wait(exec.CommandContext(s.Context(), "sh", append([]string{"-c", script + "\necho done; exec sleep infinity", "sh"}, args...)...))
}

// wait starts a program and waits for its first line.
func (s *stack) wait(cmd *exec.Cmd) *exec.Cmd {
	s.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		_ = cmd.Process.Kill() // a cure can have ended it
		_ = cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 8)); err != nil {
		s.Fatalf("%q did not begin: %v", cmd.Args, err)
	}
	return cmd
}

// unit writes and starts a service, which is gone with the test.
func (s *stack) unit(name, text string) {
	s.Helper()
	s.placed(filepath.Join("/run/systemd/system", name), text)
	s.do("systemctl", "start", name)
	s.undo("systemctl", "stop", name)
}

// placed writes a file of systemd's, which is removed with the test.
func (s *stack) placed(file, text string) {
	s.Helper()
	reload := func() {
		if _, err := run("systemctl", "daemon-reload"); err != nil {
			s.Error(err)
		}
	}
	s.Cleanup(func() {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			s.Error(err)
		}
		reload()
	})
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		s.Fatal(err)
	}
	reload()
}
