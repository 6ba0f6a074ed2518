package cli

import (
	"fmt"
	"path/filepath"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/internal/file"
	"github.com/mountward/mountward/pkg/policyfile"
	"github.com/mountward/mountward/pkg/policytest"
)

// filesAt returns the paths that globs name, from a directory; what they are is
// for the error.
func filesAt(dir, what string, globs []policytest.Glob) ([]string, error) {
	var paths []string
	for _, g := range globs {
		glob := g.Text
		if !filepath.IsAbs(glob) {
			glob = filepath.Join(dir, glob)
		}
		found, err := filepath.Glob(glob)
		if err != nil {
			return nil, fmt.Errorf("%s: find %s %s: %w", show.Word(g.At), what, show.Word(glob), err)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: find %s %s: there is no such file", show.Word(g.At), what, show.Word(glob))
		}
		paths = append(paths, found...)
	}
	return paths, nil
}

// readText reads a file that is no policy, with the limits of one.
func readText(path string) ([]byte, error) {
	data, err := file.ReadRegular(path, policyfile.MaxSize)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}
