//go:build linux

// Command node runs the tests of guest in a virtual machine: a Debian with
// systemd as pid 1, a real journal, cgroup v2, LVM and containerd, with
// mountward installed as "make install" does and run by its shipped unit.
//
//	make test-node                    # what there is time for in CI: all on trixie, a few on bookworm
//	make test-node SUITE=trixie       # Linux 6.12, systemd 257
//	make test-node SUITE=bookworm     # Linux 6.1 (no statmount), systemd 252
//	make test-node SUITE=trixie,bookworm RUN='^TestLVM$$'   # make takes "$$" for "$"
//	make test-node FULL=1             # all on both, every row of the matrix
//
// What the tests need beside Debian's packages is built: containerd, its shim,
// ctr and runc by the module test/runtime, crictl by this one, and mountward.
//
// It needs root, Go, a C compiler, qemu, mmdebstrap and e2fsprogs. The machine
// is emulated in software, so that it runs where there is no KVM.
//
// The base image of a suite is made once and kept in cache/; what a run brought
// back is in cache/results/SUITE: output, exit code, console and journal.
// Everything else that a run made is gone when it ends, however it ends; what a
// killed run left in cache/ is removed by the next one.
package main
