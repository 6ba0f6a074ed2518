package settings

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Origin says where the bytes of a policy came from.
type Origin string

// The origins.
const (
	OriginFile     Origin = "file"
	OriginBuiltIn  Origin = "built-in"
	OriginLastGood Origin = "last-good"
)

// BuiltInName is the name of the built-in policy in positions.
const BuiltInName = "built-in"

// PolicyFile is the text of a policy. Name is what its positions are reported
// with: the path it was read from.
type PolicyFile struct {
	Name   string
	Data   []byte
	Origin Origin
}

// SHA256 returns the checksum of the text in hex, as sha256sum prints it.
func (p PolicyFile) SHA256() string {
	sum := sha256.Sum256(p.Data)
	return hex.EncodeToString(sum[:])
}

// ReadPolicy reads the policy file, not parsing it.
//
// The built-in policy stands in only on a node that never had another: where
// the default path holds nothing and no last good policy is kept. A path that
// was set and is missing is an error, and so is a default file that was loaded
// before and is gone, lest a deleted file silently ends enforcement; so is a
// state directory that cannot tell. Pass nil for builtin when a policy file is
// in force already: its last good copy may not have been written.
//
// A policy.d directory with *.toml files in it is an error until it is read,
// rather than rules that somebody believes in and nobody applies.
func (s Settings) ReadPolicy(builtin []byte) (PolicyFile, error) {
	return s.readPolicy(builtin, s.Policy == DefaultPolicyPath)
}

func (s Settings) readPolicy(builtin []byte, isDefault bool) (PolicyFile, error) {
	if err := noPolicyDirectory(filepath.Join(filepath.Dir(s.Policy), "policy.d")); err != nil {
		return PolicyFile{}, err
	}
	data, err := readRegular(s.Policy, maxSize)
	switch {
	case err == nil:
		return PolicyFile{Name: s.Policy, Data: data, Origin: OriginFile}, nil
	case errors.Is(err, fs.ErrNotExist) && !isDefault:
		return PolicyFile{}, fmt.Errorf("read policy %s: %w; the settings name this file, so the built-in policy does not stand in", s.Policy, err)
	case !errors.Is(err, fs.ErrNotExist) || !absent(s.Policy):
		return PolicyFile{}, fmt.Errorf("read policy %s: %w", s.Policy, err)
	}
	last, ok, lastErr := s.LastGood()
	switch {
	case lastErr != nil:
		return PolicyFile{}, fmt.Errorf("read policy %s: %w; whether there was one before cannot be told: %w", s.Policy, err, lastErr)
	case ok:
		return PolicyFile{}, fmt.Errorf("read policy %s: %w, but a policy from %s was in force before; restore the file, or remove %s to return to the built-in policy",
			s.Policy, err, last.Name, s.lastGoodPath())
	case builtin == nil:
		return PolicyFile{}, fmt.Errorf("read policy %s: %w, but a policy file is in force; restore it", s.Policy, err)
	default:
		return PolicyFile{Name: BuiltInName, Data: builtin, Origin: OriginBuiltIn}, nil
	}
}

// MaxPolicySize is the largest policy, in bytes.
const MaxPolicySize = maxSize

// ReadPolicyFile reads a policy from a path of the caller's choice, with the
// daemon's limits.
func ReadPolicyFile(path string) (PolicyFile, error) {
	data, err := readRegular(path, maxSize)
	if err != nil {
		return PolicyFile{}, fmt.Errorf("read policy %s: %w", path, err)
	}
	return PolicyFile{Name: path, Data: data, Origin: OriginFile}, nil
}

func noPolicyDirectory(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) && absent(dir) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", dir, bare(err))
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".toml" {
			return fmt.Errorf("policy.d is not read yet: move the rules of %s into the policy file and remove it",
				filepath.Join(dir, entry.Name()))
		}
	}
	return nil
}
