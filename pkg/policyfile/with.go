package policyfile

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/mountward/mountward/pkg/policy"
)

// ReadWith is Read with more drop-ins; see [LoadWith].
func ReadWith(path string, dropIns []string) (Set, error) {
	set, err := Read(path)
	if err != nil {
		return set, err
	}
	added := make(map[string]string, len(dropIns)) // paths by name
	for _, name := range dropIns {
		base := filepath.Base(name)
		if err := dropInName(base); err != nil {
			return Set{}, fmt.Errorf("read policy %s: %w", name, err)
		}
		if other, ok := added[base]; ok {
			return Set{}, fmt.Errorf("read policy %s: %s has the same name, and a directory has only one of them", name, other)
		}
		added[base] = name
		set.DropIns = slices.DeleteFunc(set.DropIns, func(f policy.File) bool { return filepath.Base(f.Name) == base })
	}
	left := MaxSize - len(set.Main.Data)
	for _, f := range set.DropIns {
		left -= len(f.Data)
	}
	for _, name := range dropIns {
		data, err := readDropIn(name, left)
		if err != nil {
			return Set{}, fmt.Errorf("read policy %s: %w", name, err)
		}
		left -= len(data)
		set.DropIns = append(set.DropIns, policy.File{Name: name, Data: data})
	}
	slices.SortFunc(set.DropIns, func(a, b policy.File) int {
		return cmp.Compare(filepath.Base(a.Name), filepath.Base(b.Name))
	})
	return set, nil
}
