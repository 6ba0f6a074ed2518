package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/cli/internal/show"
	"github.com/mountward/mountward/pkg/policytest"
	"github.com/mountward/mountward/pkg/settings"
)

// testFiles returns the files with tests that the arguments name, each once:
// files as they are, of directories those with the suffix.
func testFiles(config settings.Source, args []string) ([]string, error) {
	if len(args) == 0 {
		s, _, err := config.Load()
		if err != nil {
			return nil, err
		}
		args = []string{filepath.Dir(s.Policy)}
	}
	var files []string
	for _, arg := range args {
		found := []string{arg}
		info, err := os.Stat(arg)
		if err != nil {
			return nil, fmt.Errorf("read tests: %w", err)
		}
		if info.IsDir() {
			if found, err = testsIn(arg); err != nil {
				return nil, err
			}
		}
		for _, name := range found {
			if name = filepath.Clean(name); !slices.Contains(files, name) {
				files = append(files, name)
			}
		}
	}
	return files, nil
}

func testsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read tests: %w", err)
	}
	var files []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), policytest.Suffix) {
			files = append(files, filepath.Join(dir, entry.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no test in %s: the names of files with tests end in %s", show.Word(dir), policytest.Suffix)
	}
	return files, nil
}
