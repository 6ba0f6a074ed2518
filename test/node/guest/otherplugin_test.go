//go:build linux

package guest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// pluginBefore is T10: a mount that another plugin sets before us is decided
// like any other, and keeps what is not ours.
func (n *node) pluginBefore(s *stack) {
	dir := s.dir()
	s.otherPlugin("10", "set-rslave", "/data", dir, "rbind,rprivate,nosuid")
	p := &pod{namespace: "set-rslave", name: "web-0", uid: uid(720), mounts: volumeMounts(dir)}
	n.start(s.T, p)
	m := mountOf(s.T, p, "/data")
	if m.Propagation() != "private,slave" || m.Master != rootGroup(s.T) || !slices.Contains(m.Options, "nosuid") {
		s.Errorf("/data is %s with master %d and %v, want a slave of the host's group %d with the plugin's nosuid",
			m.Propagation(), m.Master, m.Options, rootGroup(s.T))
	}
	s.proved(service, []*pod{p})
}

// pluginAfter is its other half: one that sets the mount after us is found out.
func (n *node) pluginAfter(s *stack) {
	dir := s.dir()
	s.otherPlugin("95", "set-rslave", "/data", dir, "rbind,rprivate")
	err := n.tryStart(s.T, &pod{namespace: "set-rslave", name: "web-0", uid: uid(721), mounts: volumeMounts(dir)})
	for _, want := range []string{"/data", "rslave", `rule "to-rslave"`, "95-other"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			s.Errorf("error = %v, want one that names %q", err, want)
		}
	}
	n.start(s.T, &pod{namespace: "none", name: "web-1", uid: uid(722), mounts: volumeMounts(dir)})
}

// otherPlugin runs an NRI plugin with another place in the order, which gives
// containers of a namespace a mount.
func (s *stack) otherPlugin(index, namespace, destination, source, options string, flags ...string) {
	s.Helper()
	unit := fmt.Sprint("other", index, "-", time.Now().UnixMilli()) // the journal keeps what others said
	command := append([]string{"/usr/local/lib/node/mountplugin"}, flags...)
	s.service(unit, append(command, index, namespace, destination, source, options)...)
	synchronized(s.T, "_SYSTEMD_UNIT="+unit+".service")
}
