package apply

import (
	"fmt"
	"strings"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// Incapable is an error: capabilities are missing, which is known.
type Incapable struct {
	Missing []string // such as "CAP_SYS_ADMIN"
}

func (e *Incapable) Error() string {
	return fmt.Sprintf("no %s: what is left to the change inside a container's namespace cannot be done; for the service run: make install-namespace", strings.Join(e.Missing, ", "))
}

// Capable returns nil where this process has the capabilities that Namespace
// takes, an [Incapable] that says which are missing and the cure, or another
// error where that cannot be told.
func Capable(proc string) error {
	has, err := linux.EffectiveCapabilities(proc)
	if err != nil {
		return err
	}
	return capable(has)
}

func capable(has linux.Capabilities) error {
	var missing []string
	for _, c := range []struct {
		capability linux.Capabilities
		name       string
	}{{linux.CapSysAdmin, "CAP_SYS_ADMIN"}, {linux.CapSysChroot, "CAP_SYS_CHROOT"}, {linux.CapSysPtrace, "CAP_SYS_PTRACE"}} {
		if has&c.capability == 0 {
			missing = append(missing, c.name)
		}
	}
	if missing == nil {
		return nil
	}
	return &Incapable{missing}
}
