package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// marker is a file in the runtime directory: this node was synchronized with
// once since it was booted.
const marker = "synchronized"

// first reports whether nothing here was synchronized with before. What runs
// then was not missed: there was nobody to miss it.
func (d *daemon) first() bool {
	if d.known.Load() {
		return false
	}
	_, err := os.Lstat(filepath.Join(d.settings.RuntimeDir, marker))
	return errors.Is(err, fs.ErrNotExist)
}

// noMoreFirst leaves the marker. Where that cannot be written the next process
// takes its start for the first.
func (d *daemon) noMoreFirst() {
	d.known.Store(true)
	err := os.WriteFile(filepath.Join(d.settings.RuntimeDir, marker), nil, 0o600)
	if err != nil {
		d.log().WithError(err).Warn("cannot note that this node was synchronized with; the next start will be taken for the first")
	}
}
