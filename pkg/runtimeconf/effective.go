package runtimeconf

import (
	"slices"
	"time"

	"github.com/mountward/mountward/pkg/facts"
)

// The defaults of containerd and of its NRI.
const (
	DefaultRoot             = "/var/lib/containerd"
	DefaultState            = "/run/containerd"
	DefaultAddress          = "/run/containerd/containerd.sock"
	DefaultSocketPath       = "/var/run/nri/nri.sock"
	DefaultPluginPath       = "/opt/nri/plugins"
	DefaultPluginConfigPath = "/etc/nri/conf.d"

	DefaultRegistrationTimeout = 5 * time.Second
	DefaultRequestTimeout      = 2 * time.Second
)

// effective fills in what holds.
func (l *loader) effective(plugins *setting) {
	l.Root.Value, l.State.Value, l.Address.Value = DefaultRoot, DefaultState, DefaultAddress
	for _, f := range l.Files {
		tree := l.trees[f.Path]
		l.text(&l.Root, tree.get("root"), "root")
		l.text(&l.State, tree.get("state"), "state")
		l.address(f.Version, tree)
	}
	table := plugins.table[l.id()]
	if table != nil && table.table == nil {
		l.wrong(table, l.id(), "a table")
		table = nil
	}
	l.nri(table)
}

// address reads where the API is served: until version 3 by [grpc], which 2.4
// turns into a plugin's table where the file has none, from version 4 on by that
// table alone.
func (l *loader) address(version int, tree *setting) {
	plugin := tree.get("plugins", grpcID)
	if plugin == nil && version < 4 {
		l.text(&l.Address, tree.get("grpc", "address"), "grpc.address")
	}
	s := plugin.get("address")
	if a, ok := text(l, s, "address"); ok && a == "" {
		l.Address = Value[string]{DefaultAddress, s.at}
	}
	l.text(&l.Address, s, "address")
}

func (l *loader) nri(t *setting) {
	n := &l.NRI
	n.SocketPath.Value, n.PluginPath.Value, n.PluginConfigPath.Value = DefaultSocketPath, DefaultPluginPath, DefaultPluginConfigPath
	n.RegistrationTimeout.Value, n.RequestTimeout.Value = DefaultRegistrationTimeout, DefaultRequestTimeout

	l.enabled(t.get("disable"))
	l.text(&n.SocketPath, t.get("socket_path"), "socket_path")
	l.text(&n.PluginPath, t.get("plugin_path"), "plugin_path")
	l.text(&n.PluginConfigPath, t.get("plugin_config_path"), "plugin_config_path")
	l.duration(&n.RegistrationTimeout, t.get("plugin_registration_timeout"), "plugin_registration_timeout")
	l.duration(&n.RequestTimeout, t.get("plugin_request_timeout"), "plugin_request_timeout")
	l.flag(&n.DisableConnections, t.get("disable_connections"), "disable_connections")

	v := t.get("default_validator")
	if v != nil && v.table == nil {
		l.wrong(v, "default_validator", "a table")
		v = nil
	}
	d := &n.Validator
	l.flag(&d.Enable, v.get("enable"), "enable")
	l.text(&d.TolerateMissing, v.get("tolerate_missing_plugins_annotation"), "tolerate_missing_plugins_annotation")
	if s := v.get("required_plugins"); s != nil {
		if names, ok := list(l, s, "required_plugins"); ok {
			d.RequiredPlugins = Value[[]string]{slices.Clip(names), s.at}
		}
	}
	l.flag(&d.RejectOCIHooks, v.get("reject_oci_hook_adjustment"), "reject_oci_hook_adjustment")
	l.flag(&d.RejectNamespaces, v.get("reject_namespace_adjustment"), "reject_namespace_adjustment")
	l.flag(&d.RejectSysctl, v.get("reject_sysctl_adjustment"), "reject_sysctl_adjustment")
	for i, kind := range []string{"runtime_default", "unconfined", "custom"} {
		key := "reject_" + kind + "_seccomp_adjustment"
		l.flag(&d.RejectSeccomp[i], v.get(key), key)
	}
}

// enabled judges NRI's switch, which is one that disables.
func (l *loader) enabled(s *setting) {
	n := &l.NRI
	off, set := boolean(l, s, "disable")
	at, disabled := l.disabled()
	switch {
	case disabled:
		n.Enabled, n.EnabledAt = facts.Is(false, "disabled_plugins has "+l.id()), at
	case !l.Complete:
		n.Enabled = facts.CannotTell("not all of containerd's configuration is known")
	case set:
		n.Enabled, n.EnabledAt = facts.Is(!off, s.at.Text), s.at
	case l.least.AtLeast(2, 0):
		n.Enabled = facts.Is(true, "on by default since containerd 2.0")
	case l.least.Known():
		n.Enabled = facts.Is(false, "off by default in containerd "+l.least.String())
	default:
		n.Enabled = facts.CannotTell("the release of containerd is not known: NRI is on by default since 2.0 and off in 1.7")
	}
}

// text sets a string; an empty one leaves what was there, as in containerd.
func (l *loader) text(v *Value[string], s *setting, key string) {
	if t, ok := text(l, s, key); ok && t != "" {
		*v = Value[string]{t, s.at}
	}
}

func (l *loader) flag(v *Value[bool], s *setting, key string) {
	if b, ok := boolean(l, s, key); ok {
		*v = Value[bool]{b, s.at}
	}
}

func (l *loader) duration(v *Value[time.Duration], s *setting, key string) {
	if d, ok := duration(l, s, key); ok && d != 0 {
		*v = Value[time.Duration]{d, s.at}
	}
}
