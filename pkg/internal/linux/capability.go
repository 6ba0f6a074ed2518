package linux

import (
	"bytes"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"
)

// Capabilities is a set of capabilities, a bit each, as in capability.h.
type Capabilities uint64

// The capabilities that reading and changing other mount namespaces takes.
const (
	CapSysChroot Capabilities = 1 << unix.CAP_SYS_CHROOT
	CapSysPtrace Capabilities = 1 << unix.CAP_SYS_PTRACE
	CapSysAdmin  Capabilities = 1 << unix.CAP_SYS_ADMIN
)

// maxStatus is more than /proc/<pid>/status has.
const maxStatus = 64 << 10

// EffectiveCapabilities returns the capabilities that this process can use.
func EffectiveCapabilities(proc string) (Capabilities, error) {
	self, err := OpenProcTask(proc, "self")
	if err != nil {
		return 0, err
	}
	defer self.Close()
	text, err := self.Read("status", maxStatus)
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		if mask, ok := bytes.CutPrefix(line, []byte("CapEff:")); ok {
			bits, err := strconv.ParseUint(string(bytes.TrimSpace(mask)), 16, 64)
			if err != nil {
				return 0, fmt.Errorf("read %s/self/status: %w", proc, err)
			}
			return Capabilities(bits), nil
		}
	}
	return 0, fmt.Errorf("read %s/self/status: no CapEff in it", proc)
}
