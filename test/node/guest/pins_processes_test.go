//go:build linux

package guest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const holderUnit = "node-holder.service"

// heldByService: one with a mount namespace of its own, whose copies do not
// follow the host.
func heldByService(s *stack, _ *node) {
	v := s.publish("pvc-1", uid(530), "ext4")
	s.unit(holderUnit, "[Service]\nType=exec\nExecStart=/usr/bin/sleep infinity\nPrivateTmp=yes\nMountFlags=private\n")
	v.unmount(nil)
	v.busy()
	r := s.pins(exitFound, v.name)
	s.heldBy(r, "mount other "+holderUnit)
	h := s.holder(r, "mount")
	if len(h.Mounts) != 1 || h.Mounts[0].MountPoint != v.path || h.Mounts[0].Propagation != "private copy" {
		s.Errorf("mounts %+v, want a private copy at %s", h.Mounts, v.path)
	}
	s.cured(h, "systemctl restart "+holderUnit)
	v.free()
}

// heldByOpenFile: a copy that follows the host, in which a service works. The
// host's unmount is refused.
func heldByOpenFile(s *stack, _ *node) {
	v := s.publish("pvc-1", uid(531), "ext4")
	once := filepath.Join(s.dir(), "once")
	s.write(once, "")
	s.unit(holderUnit, "[Service]\nType=exec\nPrivateMounts=yes\nExecStart=/bin/sh -c 'if [ -e "+once+" ]; then cd "+v.path+"; fi; exec sleep infinity'\n")
	await(s.T, "the service to be in the volume", func() (any, error) {
		at, err := os.Readlink("/proc/" + property(s.T, holderUnit, "MainPID") + "/cwd")
		if err == nil && at != v.path {
			err = errNotYet
		}
		return nil, err
	})
	if err := os.Remove(once); err != nil {
		s.Fatal(err)
	}
	v.unmount(unix.EBUSY)
	r := s.pins(exitFound, v.name)
	mounts := slices.DeleteFunc(slices.Clone(r.Holders), func(h holder) bool { return h.Kind != "mount" || h.Where == "host" })
	for _, h := range mounts { // udevd has one too
		if !strings.HasPrefix(h.Mounts[0].Propagation, "slave copy") {
			s.Errorf("the copy of %s is a %s", h.Owner.Unit, h.Mounts[0].Propagation)
		}
	}
	if !slices.ContainsFunc(mounts, func(h holder) bool { return h.Owner.Unit == holderUnit }) {
		s.Errorf("no copy of %s: %+v", holderUnit, mounts)
	}
	h := s.holder(r, "cwd")
	if h.Owner.Unit != holderUnit || fmt.Sprint(h.Processes[0].PID) != property(s.T, holderUnit, "MainPID") || !strings.Contains(h.Why, "EBUSY") {
		s.Errorf("holder %+v, want the working directory of %s, that makes the unmount fail", h, holderUnit)
	}
	s.cured(h, "systemctl restart "+holderUnit)
	v.unmount(nil)
	v.free()
}

// copies runs a process in a mount namespace of its own with private copies.
func (s *stack) copies() *exec.Cmd {
	s.Helper()
	return s.wait(exec.CommandContext(s.Context(), "unshare", "--mount", "--propagation", "private", "sh", "-c", "echo done; exec sleep infinity"))
}

// heldByDescriptor: nobody is in the namespace any more. Before Linux 6.12 the
// kernel lists no namespaces; those of all descriptors are looked at.
func heldByDescriptor(s *stack, _ *node) {
	v := s.publish("pvc-1", uid(532), "ext4")
	in := s.copies()
	keeper := s.holds(`exec 3<"$1"`, fmt.Sprintf("/proc/%d/ns/mnt", in.Process.Pid))
	end(s, in)
	v.unmount(nil)
	v.busy()
	r := s.pins(exitFound, v.name)
	if len(r.Holders) != 1 {
		s.Fatalf("holders %+v, want one namespace", r.Holders)
	}
	h := r.Holders[0]
	if h.Where != "other" || len(h.Processes) != 0 || !strings.Contains(h.Why, fmt.Sprintf("sleep[%d]", keeper.Process.Pid)) {
		s.Errorf("holder %+v, want a namespace that process %d keeps", h, keeper.Process.Pid)
	}
	s.heldBy(r, h.String())
	s.cured(h, fmt.Sprintf("kill %d", keeper.Process.Pid))
	_ = keeper.Wait() // killed
	v.free()
}

// heldByMessage: the descriptor of the namespace is on its way through a socket,
// where procfs does not show it. The kernel's list has it; without the list it
// cannot be told, and what it can be is said.
func heldByMessage(s *stack, _ *node) {
	v := s.publish("pvc-1", uid(533), "ext4")
	in := s.copies()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		s.Fatal(err)
	}
	closed := func() {
		for i, fd := range pair {
			if pair[i] = -1; fd >= 0 {
				unix.Close(fd)
			}
		}
	}
	s.Cleanup(closed)
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/mnt", in.Process.Pid))
	if err != nil {
		s.Fatal(err)
	}
	if err := unix.Sendmsg(pair[0], []byte{0}, unix.UnixRights(int(ns.Fd())), nil, 0); err != nil {
		s.Fatal(err)
	}
	ns.Close()
	end(s, in)
	v.unmount(nil)
	v.busy()
	if suite() == "bookworm" {
		r := s.pins(exitCannotTell, v.name)
		if len(r.Holders) != 0 || r.Alive.Answer != "yes" || r.Open.Count != 1 {
			s.Errorf("report %+v, want a file system that is alive, and nobody who holds it", r)
		}
		if !slices.ContainsFunc(r.Suspects, func(why string) bool { return strings.Contains(why, "Linux 6.12") }) {
			s.Errorf("suspects %q, want one of a namespace that this kernel does not list", r.Suspects)
		}
	} else {
		r := s.pins(exitFound, v.name)
		s.heldBy(r, "mount other")
		h := s.holder(r, "mount")
		if !strings.Contains(h.Why, "no process is in") {
			s.Errorf("why %q, want a namespace without a process", h.Why)
		}
		s.cured(h, "rmdir ")
	}
	closed()
	v.free()
}

// heldLazily: no table has it any more.
func heldLazily(s *stack, _ *node) {
	v := s.publish("pvc-1", uid(534), "ext4")
	in := s.holds(`cd "$1"`, v.path)
	if err := unix.Unmount(v.path, unix.MNT_DETACH); err != nil {
		s.Fatal(err)
	}
	v.busy()
	r := s.pins(exitFound, v.name)
	h := s.holder(r, "cwd")
	s.heldBy(r, h.String())
	if h.Processes[0].PID != in.Process.Pid || !strings.Contains(h.Why, "lazy") && !strings.Contains(h.Why, "lazily") {
		s.Errorf("holder %+v, want process %d after a lazy unmount", h, in.Process.Pid)
	}
	end(s, in)
	v.free()
}

// end ends a process.
func end(s *stack, cmd *exec.Cmd) {
	s.Helper()
	if err := cmd.Process.Kill(); err != nil {
		s.Fatal(err)
	}
	_ = cmd.Wait() // killed
}
