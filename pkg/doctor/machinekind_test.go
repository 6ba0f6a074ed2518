package doctor

import (
	"path"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

func TestWhatKindOfMachineItIs(t *testing.T) {
	const overlay = "1 0 0:50 / / rw - overlay overlay rw\n"
	for _, tc := range []struct {
		name            string
		host            textHost
		container, init string
		fixed           string // a part of the persistent fix
	}{
		{"Debian", textHost{}.process(1, "systemd", "/sbin/init", hostNS, private), "", initSystemd, "/etc/systemd/system/shared-root.service"},
		{"systemd by its other name", textHost{"/run/systemd/system/x": ""}.process(1, "init", "/sbin/init", hostNS, private), "", initSystemd, "shared-root.service"},
		{"Alpine", textHost{"/run/openrc/softlevel": ""}.process(1, "init", "/sbin/init", hostNS, private), "", initOpenRC, "/etc/local.d/shared-root.start"},
		{"Ubuntu 14.04", textHost{"/etc/init/rc.conf": ""}.process(1, "init", "/sbin/init", hostNS, private), "", initUpstart, "/etc/init/shared-root.conf"},
		{"Void", textHost{}.process(1, "runit", "runit", hostNS, private), "", initRunit, "/etc/runit/core-services/90-shared-root.sh"},
		{"systemd by what it leaves", textHost{"/run/systemd/system/x": ""}.process(1, "other", "/init", hostNS, private), "", initSystemd, "shared-root.service"},
		{"an appliance", textHost{}.process(1, "init", "init", hostNS, private), "", initOther, "/etc/rc.local"},
		{"WSL", textHost{"/proc/sys/kernel/osrelease": "5.15.1-Microsoft\n"}.process(1, "init", "/init", hostNS, private), "", initOther, "/etc/wsl.conf"},
		{"kind", textHost{"/run/systemd/container": "docker\n"}.process(1, "systemd", "/sbin/init", hostNS, overlay), "docker", initSystemd, "entrypoint"},
		{"k3d", textHost{"/.dockerenv": ""}.process(1, "docker-init", "/sbin/docker-init", hostNS, overlay), "docker", initOther, "entrypoint"},
		{"podman", textHost{"/run/.containerenv": ""}.process(1, "k3s", "k3s server", hostNS, overlay), "podman", initOther, "entrypoint"},
		{"a disk made from an image", textHost{"/.dockerenv": ""}.process(1, "systemd", "/sbin/init", hostNS, private), "", initSystemd, "shared-root.service"},
		{"LXC by its control group", textHost{}.process(1, "systemd", "/sbin/init", hostNS, private, "cgroup", "0::/lxc.payload.n1/init.scope\n"), "lxc", initSystemd, "shared-root.service"},
		{"LXC by the environment", textHost{}.process(1, "init", "/sbin/init", hostNS, private, "environ", "PATH=/bin\x00container=lxc\x00"), "lxc", initOther, "/etc/rc.local"},
		{"a look-alike variable", textHost{}.process(1, "init", "/sbin/init", hostNS, private, "environ", "PATH=/bin\x00mycontainer=lxc\x00"), "", initOther, "/etc/rc.local"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, s := tc.host.with(map[string]string{"/var/lib/kubelet/x": ""}).machine(t).findings(t, Check{"propagation", checkPropagation})
			n := newNode(s)
			if got := n.container(); got != tc.container {
				t.Errorf("container %q, want %q", got, tc.container)
			}
			if got := n.initSystem(); got != tc.init {
				t.Errorf("service manager %q, want %q", got, tc.init)
			}
			persistent := ""
			for _, f := range r.Findings[0].Fixes {
				if f.Persistent {
					persistent = f.What + "\n" + f.File + "\n" + f.Content
					break
				}
			}
			if !strings.Contains(persistent, tc.fixed) || !strings.Contains(persistent, "mount --make-rshared /") {
				t.Errorf("fix %q, want %q", persistent, tc.fixed)
			}
		})
	}
}

// FuzzDriverDir: the directory of a driver is below plugins and holds the mount
// point.
func FuzzDriverDir(f *testing.F) {
	for _, seed := range []string{"/p/kubernetes.io/csi/d/h/globalmount", "/p/d", "/p", "/px/d", "/p/kubernetes.io", "/p//x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, point string) {
		if path.Clean(point) != point || !path.IsAbs(point) {
			return // the kernel writes none
		}
		dir, ok := driverDir(point, "/p")
		if ok && (!strings.HasPrefix(dir, "/p/") || !facts.Within(point, dir) || !strings.HasPrefix(point, "/p/")) {
			t.Errorf("%q has the driver directory %q", point, dir)
		}
		if !ok && strings.HasPrefix(point, "/p/") {
			t.Errorf("%q has none", point)
		}
	})
}
