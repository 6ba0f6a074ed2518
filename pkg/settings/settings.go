// Package settings reads mountward.toml.
//
// Nothing here stops the daemon. A mistake in the settings gives what could be
// read of them and an error, which the caller treats like a mistake in the
// policy: the runtime would go on without a plugin that gave up.
package settings

import "path/filepath"

// Where the settings and the policy are unless somebody says otherwise.
const (
	DefaultPath       = "/etc/mountward/mountward.toml"
	DefaultPolicyPath = "/etc/mountward/policy.toml"
)

// Auto is the value of a [host] key that is found out on the machine.
const Auto = "auto"

// Settings is what mountward.toml says. All paths are absolute and clean.
type Settings struct {
	Policy     string `toml:"policy"`      // the policy file
	StateDir   string `toml:"state_dir"`   // kept over a reboot
	RuntimeDir string `toml:"runtime_dir"` // kept until a reboot

	Audit Audit `toml:"audit"`
	Guard Guard `toml:"guard"`
	Apply Apply `toml:"apply"`
	Host  Host  `toml:"host"`
	Log   Log   `toml:"log"`
}

// Audit says where records go, and which.
type Audit struct {
	Journal   bool      `toml:"journal"`
	File      string    `toml:"file"` // always written if set; "" for none
	Decisions Decisions `toml:"decisions"`
}

// Decisions selects the containers that get a decision record.
type Decisions string

// The selections: containers for which something was changed, refused or would
// have been, or all.
const (
	DecisionsChanged Decisions = "changed"
	DecisionsAll     Decisions = "all"
)

// Guard says what happens where a decision cannot be reached or made true.
type Guard struct {
	OnPolicyError OnPolicyError `toml:"on_policy_error"`
	OnUnmetRaise  OnUnmet       `toml:"on_unmet_raise"`
	OnUnmetLower  OnUnmet       `toml:"on_unmet_lower"`
}

// OnPolicyError says what happens without any policy: neither one that can be
// read nor a last good one.
type OnPolicyError string

// The choices: the built-in policy in audit mode, or every container refused.
const (
	PolicyErrorAudit OnPolicyError = "audit"
	PolicyErrorDeny  OnPolicyError = "deny"
)

// OnUnmet says what happens to a container with a mount whose decided
// propagation cannot be made true. A rule's own on_unmet wins.
type OnUnmet string

// The choices: the mount is left as asked, or the container is refused.
const (
	UnmetLeave OnUnmet = "leave"
	UnmetDeny  OnUnmet = "deny"
)

// Apply says by what means a decision is made true beside the specification.
type Apply struct {
	// Namespace has mounts changed in the container's mount namespace before its
	// start where the specification cannot carry the decision. It takes
	// capabilities that the shipped unit does not have by itself.
	Namespace bool `toml:"namespace"`
}

// Host says where things are on the node. Each of the first three is a path or
// Auto.
type Host struct {
	KubeletRoot  string `toml:"kubelet_root"`
	RuntimeRoot  string `toml:"runtime_root"`
	RuntimeState string `toml:"runtime_state"`
	// RequireShared are paths that must be on shared mounts, beside the
	// kubelet's root, its pods and its plugins; nil for none.
	RequireShared []string `toml:"require_shared"`
}

// Log says how much the daemon tells beside its records.
type Log struct {
	Level Level `toml:"level"`
}

// Level is the least severe message that is logged.
type Level string

// The levels, with the names logrus has for them.
const (
	LevelError   Level = "error"
	LevelWarning Level = "warning"
	LevelInfo    Level = "info"
	LevelDebug   Level = "debug"
)

// Default returns the settings of an empty file. config/mountward.toml says
// the same.
func Default() Settings {
	return Settings{
		Policy:     DefaultPolicyPath,
		StateDir:   "/var/lib/mountward",
		RuntimeDir: "/run/mountward",
		Audit:      Audit{Journal: true, Decisions: DecisionsChanged},
		Guard:      Guard{OnPolicyError: PolicyErrorAudit, OnUnmetRaise: UnmetLeave, OnUnmetLower: UnmetDeny},
		Host:       Host{KubeletRoot: Auto, RuntimeRoot: Auto, RuntimeState: Auto},
		Log:        Log{Level: LevelInfo},
	}
}

// ContainersDir returns the directory of what was decided, one file a
// container.
func (s Settings) ContainersDir() string { return filepath.Join(s.RuntimeDir, "containers") }

// SpoolDir returns the directory of records that the journal has not taken yet.
func (s Settings) SpoolDir() string { return filepath.Join(s.RuntimeDir, "spool") }

// CrashDir returns the directory of what the daemon printed when it crashed.
func (s Settings) CrashDir() string { return filepath.Join(s.StateDir, "crash") }
