package pins

import (
	"path/filepath"
	"strings"

	"github.com/mountward/mountward/pkg/internal/linux"
)

// attribute reads an attribute below sysfs.
func (s *search) attribute(name string) (string, error) {
	text, err := linux.ReadAttribute(nil, filepath.Join(s.Sys, name))
	return strings.TrimSuffix(text, "\n"), err
}
