package apply

import (
	"os"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/internal/linux"
)

func TestAMissingCapabilityIsNamed(t *testing.T) {
	all := linux.CapSysAdmin | linux.CapSysChroot | linux.CapSysPtrace
	if err := capable(all); err != nil {
		t.Error(err)
	}
	for name, missing := range map[string]linux.Capabilities{
		"no CAP_SYS_ADMIN:":                  linux.CapSysAdmin,
		"no CAP_SYS_CHROOT, CAP_SYS_PTRACE:": linux.CapSysChroot | linux.CapSysPtrace,
	} {
		if err := capable(all &^ missing); err == nil || !strings.HasPrefix(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
	}
	if err := Capable("/proc"); os.Geteuid() == 0 && err != nil {
		t.Errorf("root: %v", err)
	}
	if err := Capable("/nowhere"); err == nil {
		t.Error("without procfs it is known all the same")
	}
}
