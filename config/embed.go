// Package config holds the files that mountward ships. The files that an
// administrator finds on disk are the ones built into the binary.
package config

import (
	_ "embed"
	"slices"
)

//go:embed policy.toml
var policy []byte

// Policy returns the built-in policy, policy.toml.
func Policy() []byte { return slices.Clone(policy) }
