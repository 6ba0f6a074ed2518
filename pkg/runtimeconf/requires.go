package runtimeconf

import (
	"slices"
	"strings"
)

// Requires reports whether no container is created while a plugin is away. It
// needs containerd 2.2, the first with a validator.
func (v Validator) Requires(plugin string) bool {
	return v.Enable.Value && slices.ContainsFunc(v.RequiredPlugins.Value, func(listed string) bool {
		return NamesPlugin(listed, plugin)
	})
}

// NamesPlugin reports whether a name in required_plugins is that of a plugin:
// its own, or its index and its own, as in "90-mountward".
//
// Source: GetPluginMap in pkg/api/validate.go of NRI 0.12.3.
func NamesPlugin(listed, plugin string) bool {
	index, name, _ := strings.Cut(listed, "-")
	return listed == plugin || name == plugin && len(index) == 2 && strings.Trim(index, "0123456789") == ""
}
