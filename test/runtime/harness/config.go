//go:build linux

package harness

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
)

// Config is what differs between nodes. The zero value is a containerd with
// NRI and no plugin.
type Config struct {
	// Plugins are put into NRI's plugin directory: the name there, such as
	// "90-mountward", and the executable, which is linked to.
	Plugins map[string]string
	// PluginConf are files of NRI's configuration directory, such as
	// "90-mountward.conf": name and text.
	PluginConf map[string]string
	// NoLaunch hides Plugins from containerd: plugins connect to the socket.
	NoLaunch bool
	// NoNRI switches NRI off.
	NoNRI bool
	// RequestTimeout is what NRI gives a plugin for an event. Zero is NRI's own
	// 2 s.
	RequestTimeout time.Duration
	// RegistrationTimeout is what NRI gives a plugin to register. Zero is NRI's
	// own 5 s.
	RegistrationTimeout time.Duration
	// TOML is added to containerd's configuration, version 3. It may make new
	// tables only: required plugins are
	// [plugins.'io.containerd.nri.v1.nri'.default_validator].
	TOML string
	// Imports are files that containerd's configuration imports, as drop-ins.
	Imports []string
	// DefaultState puts containerd's state where it is by default,
	// /run/containerd: for what looks for it there. One node at a time can.
	DefaultState bool
	// Root is containerd's root, for one on a file system of its own. It is
	// made, and removed with the node. Empty is a directory of the node.
	Root string
	// Symlinks are added to the root of the test image: path and target, such
	// as "var/run" and "/run".
	Symlinks map[string]string
	// Binaries are the programs. Nil builds them.
	Binaries *Binaries
	// Progress hears what takes long. Nil is standard error.
	Progress io.Writer
}

// containerd is the configuration file of a node.
func (n *Node) containerd(cfg *Config) string {
	var b strings.Builder
	pluginDir := n.PluginDir
	if cfg.NoLaunch {
		pluginDir = filepath.Join(n.Dir, "no-plugins")
	}
	fmt.Fprintf(&b, "version = 3\nimports = [%s]\n", quoted(cfg.Imports))
	fmt.Fprintf(&b, `root = %q
state = %q
[grpc]
address = %q
[ttrpc]
address = %q
[debug]
level = "info"
[plugins.'io.containerd.internal.v1.opt']
path = %q
[plugins.'io.containerd.image-verifier.v1.bindir']
bin_dir = %q
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = %q
[plugins.'io.containerd.cri.v1.runtime']
restrict_oom_score_adj = true
disable_apparmor = true
[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = [%q]
conf_dir = %q
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
BinaryName = %q
SystemdCgroup = false
[plugins.'io.containerd.nri.v1.nri']
disable = %t
socket_path = %q
plugin_path = %q
plugin_config_path = %q
`,
		n.Root, n.State, n.Address, n.Address+".ttrpc",
		filepath.Join(n.Dir, "opt"), filepath.Join(n.Dir, "verifiers"), pauseImage,
		filepath.Join(n.Dir, "cni", "bin"), filepath.Join(n.Dir, "cni", "conf"),
		n.Binaries.Runc, cfg.NoNRI, n.NRISocket, pluginDir, n.ConfDir)
	if cfg.RequestTimeout != 0 {
		fmt.Fprintf(&b, "plugin_request_timeout = %q\n", cfg.RequestTimeout)
	}
	if cfg.RegistrationTimeout != 0 {
		fmt.Fprintf(&b, "plugin_registration_timeout = %q\n", cfg.RegistrationTimeout)
	}
	b.WriteString(cfg.TOML)
	return b.String()
}

func quoted(all []string) string {
	var b strings.Builder
	for _, one := range all {
		fmt.Fprintf(&b, "%q,", one)
	}
	return b.String()
}
