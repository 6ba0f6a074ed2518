package runtimeconf

import (
	"fmt"
	"time"

	"github.com/mountward/mountward/pkg/facts"
)

// DefaultPath is the file that containerd reads when it is started without
// --config.
const DefaultPath = "/etc/containerd/config.toml"

// DropIns is where drop-ins belong. It is no more than a convention: containerd
// reads a file there only where its main file imports it, with an `imports` line
// that "containerd config default" prints since 2.2 (measured with 2.4.2: a main
// file without the line, and no main file at all, leave it unread).
const DropIns = "/etc/containerd/conf.d/*.toml"

// Config is what containerd's files come to.
type Config struct {
	Path    string // of the main file
	Found   bool   // false: there is none, and containerd runs with its defaults
	Release Release
	Files   []File // that were read, in the order in which they are merged

	// Imports are the paths and patterns that are imported, made absolute.
	Imports []string

	Root    Value[string]
	State   Value[string]
	Address Value[string] // of the API's socket
	NRI     NRI

	// Refused is at what containerd would not start.
	Refused []Problem
	// Orphans are keys that look like settings of NRI and have no effect.
	Orphans []Problem
	// Lost are settings of NRI that the table of a later file takes away
	// without setting them: containerd 1.x replaces a plugin's table whole.
	Lost []Problem
	// Overridden are settings of NRI that a later file sets too.
	Overridden []Override
	// Unused are files in DropIns that nothing imports.
	Unused []string
	// Complete is false where something that counts could not be read, or the
	// rules are not known: any value can be another one then.
	Complete bool
	// Unread is what could not be read, with the reason.
	Unread []Problem
}

// File is one file of the configuration.
type File struct {
	Path    string
	Version int // as written; 0: none
}

// Position is a place in a file. The zero value is containerd's default.
type Position struct {
	File         string
	Line, Column int    // from 1, Column in bytes; 0: of the whole file
	Text         string // the line, without the space around it
}

// String returns "file:line:col", or "default".
func (p Position) String() string {
	switch {
	case p.File == "":
		return "default"
	case p.Line == 0:
		return p.File
	default:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
}

// Problem is something about one place.
type Problem struct {
	Position
	Message string
	Missing bool // it is that the file does not exist
}

// Override is a key with two values of which the later holds.
type Override struct {
	Key         string
	Lost, Holds Position
}

// Value is a setting: what holds, and where that is set.
type Value[T any] struct {
	Value T
	At    Position
}

// NRI is the table [plugins."io.containerd.nri.v1.nri"], which has this name in
// the versions 2, 3 and 4 of the file.
type NRI struct {
	// Enabled says whether containerd runs NRI: the default is yes since 2.0
	// and no in 1.7, the first release that has it.
	Enabled   facts.Answer
	EnabledAt Position

	SocketPath          Value[string]
	PluginPath          Value[string]
	PluginConfigPath    Value[string]
	RegistrationTimeout Value[time.Duration]
	RequestTimeout      Value[time.Duration] // 0 in the file: the default
	// DisableConnections: only plugins that containerd launches.
	DisableConnections Value[bool]
	Validator          Validator
}

// Validator is the default validator, which containerd has since 2.2.
type Validator struct {
	Enable           Value[bool]
	RequiredPlugins  Value[[]string] // by name or index-name
	TolerateMissing  Value[string]   // annotation key; "" for none
	RejectOCIHooks   Value[bool]
	RejectNamespaces Value[bool]
	RejectSysctl     Value[bool]
	RejectSeccomp    [3]Value[bool] // runtime default, unconfined, custom
}
