package policyfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/internal/file"
	"github.com/mountward/mountward/pkg/policy"
)

// Skipped returns the paths of regular files, or links to them, in the policy.d
// of the policy at path that are no drop-ins for their names and look as if they
// were to be: not hidden, not named as what editors, package managers and people
// put aside, and no README. What cannot be read has none; reading the policy tells
// of that.
func Skipped(path string) []string {
	dir := filepath.Join(filepath.Dir(path), policy.DropInDir)
	names, err := file.Names(dir, maxNames)
	if err != nil {
		return nil
	}
	var all []string
	for _, name := range names {
		if strings.HasPrefix(name, ".") || strings.HasSuffix(name, dropInSuffix) || putAside(name) {
			continue
		}
		name = filepath.Join(dir, name)
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			all = append(all, name)
		}
	}
	return all
}

// putAside reports a name that nobody takes for that of a drop-in.
func putAside(name string) bool {
	lower := strings.ToLower(name)
	if strings.HasSuffix(lower, "~") || strings.HasPrefix(lower, "#") || strings.HasPrefix(lower, "readme") {
		return true
	}
	return slices.Contains([]string{
		".bak", ".backup", ".old", ".orig", ".save", ".rej", ".tmp", ".swp", ".off", ".disabled", ".disable", ".example", ".sample", ".md",
		".rpmsave", ".rpmnew", ".rpmorig", ".dpkg-old", ".dpkg-dist", ".dpkg-new", ".dpkg-bak", ".dpkg-tmp", ".ucf-old", ".ucf-new", ".ucf-dist",
	}, filepath.Ext(lower))
}
