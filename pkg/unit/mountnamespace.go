package unit

import "strings"

// Option is a setting that gives a service a mount namespace of its own.
type Option struct {
	Setting
	// Sure says that every version of systemd does so for this value. Else it
	// depends on the version or on other settings.
	Sure  bool
	Reset string // the assignment that takes it back, for a drop-in
}

// kind is how the value of a key decides.
type kind int

const (
	anything   kind = iota // any value does: a list of paths
	boolean                // true does
	notNo                  // anything but a false does: "full", "disconnected"
	flags                  // MountFlags
	notDefault             // anything but the default does
)

// option is a key of [Service], systemd.exec(5).
type option struct {
	kind  kind
	sure  bool
	reset string // the value that takes it back; "" for an empty assignment
}

// options are what exec_needs_mount_namespace of src/core/execute.c asks about
// (systemd 257; see systemd.exec(5)). DynamicUser does through the PrivateTmp,
// ProtectSystem and ProtectHome that it implies. Not sure are: RootDirectory,
// which is a chroot unless the API file systems are mounted (MountAPIVFS, on by
// default since 248), while MountAPIVFS alone makes none; PrivateIPC and
// PrivatePIDs, which mount /dev/mqueue or /proc; PrivateNetwork and
// NetworkNamespacePath, which mount /sys anew in some versions.
func options() map[string]option {
	return map[string]option{
		"MountFlags":              {kind: flags, sure: true},
		"PrivateMounts":           {kind: boolean, sure: true, reset: "no"},
		"PrivateTmp":              {kind: notNo, sure: true, reset: "no"},
		"PrivateDevices":          {kind: boolean, sure: true, reset: "no"},
		"ProtectSystem":           {kind: notNo, sure: true, reset: "no"},
		"ProtectHome":             {kind: notNo, sure: true, reset: "no"},
		"ProtectKernelTunables":   {kind: boolean, sure: true, reset: "no"},
		"ProtectKernelModules":    {kind: boolean, sure: true, reset: "no"},
		"ProtectKernelLogs":       {kind: boolean, sure: true, reset: "no"},
		"ProtectControlGroups":    {kind: notNo, sure: true, reset: "no"},
		"ProtectProc":             {kind: notDefault, sure: true, reset: "default"},
		"ProcSubset":              {kind: notDefault, sure: true, reset: "all"},
		"ReadOnlyPaths":           {sure: true},
		"ReadWritePaths":          {sure: true},
		"InaccessiblePaths":       {sure: true},
		"ReadOnlyDirectories":     {sure: true}, // the names before 231
		"ReadWriteDirectories":    {sure: true},
		"InaccessibleDirectories": {sure: true},
		"ExecPaths":               {sure: true},
		"NoExecPaths":             {sure: true},
		"TemporaryFileSystem":     {sure: true},
		"BindPaths":               {sure: true},
		"BindReadOnlyPaths":       {sure: true},
		"BindLogSockets":          {kind: boolean, sure: true, reset: "no"},
		"MountImages":             {sure: true},
		"ExtensionImages":         {sure: true},
		"ExtensionDirectories":    {sure: true},
		"RootImage":               {sure: true},
		"RootDirectory":           {},
		"LogNamespace":            {sure: true},
		"DynamicUser":             {kind: boolean, sure: true, reset: "no"},
		"PrivateIPC":              {kind: boolean, reset: "no"},
		"PrivatePIDs":             {kind: boolean, reset: "no"},
		"PrivateNetwork":          {kind: boolean, reset: "no"},
		"NetworkNamespacePath":    {},
	}
}

// MountNamespace returns the settings of a unit that give its service a mount
// namespace of its own, in the order in which they are read. systemd makes the
// namespace's mounts slaves of the host's, and shared among themselves unless
// MountFlags says otherwise: mounts of the service do not reach the host,
// whatever the value, see MountFlags in systemd.exec(5).
func (u *Unit) MountNamespace() []Option {
	known := options()
	last := map[string]int{} // of keys that are no list the last counts
	for i, s := range u.Settings {
		if executes(s.Section) {
			last[s.Section+"."+s.Key] = i
		}
	}
	var all []Option
	for i, s := range u.Settings {
		o, ok := known[s.Key]
		if !ok || !executes(s.Section) || o.kind != anything && last[s.Section+"."+s.Key] != i {
			continue
		}
		if is, sure := o.makes(s.Value); is {
			all = append(all, Option{Setting: s, Sure: sure, Reset: s.Key + "=" + o.reset})
		}
	}
	return all
}

// executes reports whether a section says how processes are run.
func executes(section string) bool {
	switch section {
	case "Service", "Socket", "Mount", "Swap":
		return true
	default:
		return false
	}
}

func (o option) makes(value string) (is, sure bool) {
	word := strings.ToLower(value)
	switch o.kind {
	case boolean:
		return truthy(word), o.sure
	case notNo:
		return !falsy(word), o.sure
	case notDefault:
		return word != "default" && word != "all", o.sure
	case flags:
		// Since 239 or so "shared" alone makes no namespace: it is what a
		// service has anyway. Before, it made one that is slave and shared.
		return true, word != "shared"
	default:
		return true, o.sure
	}
}

// truthy and falsy are parse_boolean of src/basic/parse-util.c.
func truthy(word string) bool {
	switch word {
	case "1", "yes", "y", "true", "t", "on":
		return true
	default:
		return false
	}
}

func falsy(word string) bool {
	switch word {
	case "0", "no", "n", "false", "f", "off":
		return true
	default:
		return false
	}
}
