package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/mountward/mountward/pkg/internal/file"
	"github.com/mountward/mountward/pkg/internal/strict"
)

// Source says where the settings come from: the text that NRI hands to a
// launched plugin, unless it is blank or has only comments, as the shipped one;
// else a file.
type Source struct {
	Text     string
	TextName string // what positions in Text are reported with
	Path     string // "" for DefaultPath
	Explicit bool   // Path was asked for: it must exist
}

// Load reads the settings and returns where they came from: the name of the
// text or file, and "defaults" if there is neither. With an error the Settings
// are what could be read, see [Parse], and Default where nothing could be.
func (s Source) Load() (Settings, string, error) {
	if !blank(s.Text) {
		name := s.TextName
		if name == "" {
			name = "nri configuration"
		}
		settings, err := Parse(name, []byte(s.Text))
		return settings, name, err
	}
	path := s.Path
	if path == "" {
		path = DefaultPath
	}
	data, err := file.ReadRegular(path, strict.MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !s.Explicit && file.Absent(path):
		return Default(), "defaults", nil
	case err != nil:
		return Default(), path, fmt.Errorf("read settings %s: %w", path, err)
	}
	settings, err := Parse(path, data)
	return settings, path, err
}

// blank reports a text that says nothing.
func blank(text string) bool {
	// A carriage return alone ends no line in TOML, but it does for who wrote it.
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return false
		}
	}
	return true
}
