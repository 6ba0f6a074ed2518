package policyfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/mountward/mountward/pkg/internal/file"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/settings"
)

// Load reads the configured policy, see [Configured], and parses it. The Set is
// what was read, also where it is no policy.
func Load(s settings.Settings, builtin []byte) (*policy.Policy, Set, error) {
	set, err := Configured(s, builtin)
	if err != nil {
		return nil, set, err
	}
	p, err := set.Parse()
	return p, set, err
}

// LoadWith reads a policy from a path of the caller's choice, with its drop-ins and
// as the daemon would, and parses it. More drop-ins are files from anywhere, as if
// they lay in its policy.d: one that has the name of a file there takes its place.
// So a drop-in can be judged before it is put there.
func LoadWith(path string, dropIns []string) (*policy.Policy, Set, error) {
	set, err := ReadWith(path, dropIns)
	if err != nil {
		return nil, set, err
	}
	p, err := set.Parse()
	return p, set, err
}

// Configured reads the configured policy, not parsing it.
//
// The built-in policy stands in only on a node that never had another: where
// the default path holds nothing, no drop-in is there and no last good policy is
// kept. A path that was set and is missing is an error, and so is a default file
// that was loaded before and is gone, lest a deleted file silently ends
// enforcement; so is a state directory that cannot tell. Pass nil for builtin
// when a policy file is in force already: its last good copy may not have been
// written.
func Configured(s settings.Settings, builtin []byte) (Set, error) {
	return configured(s, builtin, s.Policy == settings.DefaultPolicyPath)
}

func configured(s settings.Settings, builtin []byte, isDefault bool) (Set, error) {
	set, err := Read(s.Policy)
	switch {
	case err == nil:
		return set, nil
	case errors.Is(err, fs.ErrNotExist) && set.Main.Name != "" && !isDefault:
		return Set{}, fmt.Errorf("%w; the settings name this file, so the built-in policy does not stand in", err)
	case !errors.Is(err, fs.ErrNotExist) || set.Main.Name == "" || !file.Absent(s.Policy):
		return Set{}, err
	}
	last, ok, lastErr := LastGood(s)
	switch {
	case lastErr != nil:
		return Set{}, fmt.Errorf("%w; whether there was one before cannot be told: %w", err, lastErr)
	case ok:
		return Set{}, fmt.Errorf("%w, but a policy from %s was in force before; restore the file, or remove %s to return to the built-in policy",
			err, last.Main.Name, lastGoodPath(s))
	case builtin == nil:
		return Set{}, fmt.Errorf("%w, but a policy file is in force; restore it", err)
	case len(set.DropIns) > 0:
		return Set{}, fmt.Errorf("%w, but there are drop-ins in %s, and they add rules to a policy: write the file, which says version, mode and default",
			err, filepath.Dir(set.DropIns[0].Name))
	default:
		return Set{Main: policy.File{Name: BuiltInName, Data: builtin}, Origin: OriginBuiltIn}, nil
	}
}
