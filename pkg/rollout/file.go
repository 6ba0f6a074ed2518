package rollout

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

const (
	fileName = "rollout.json"
	maxSize  = 2 << 20 // bytes; a full one has less than half
)

// Path returns the file of the count that is kept in a directory.
func Path(dir string) string { return filepath.Join(dir, fileName) }

// Read reads the count that is kept in a directory, and returns false where there
// is none. One that is damaged is an error.
func Read(dir string) (Tally, bool, error) {
	path := Path(dir)
	// Not waiting for a writer, should it be a pipe.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Tally{}, false, nil
	}
	if err != nil {
		return Tally{}, false, fmt.Errorf("read the roll-out count: %w", err)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return Tally{}, false, fmt.Errorf("read the roll-out count %s: not a regular file", path)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	if err != nil {
		return Tally{}, false, fmt.Errorf("read the roll-out count: %w", err)
	}
	t, err := parse(text)
	if err != nil {
		return Tally{}, false, fmt.Errorf("read the roll-out count %s: %w (remove the file to begin anew)", path, err)
	}
	return t, true, nil
}

// parse reads the text of a file, and refuses what we did not write.
func parse(text []byte) (Tally, error) {
	if len(text) > maxSize {
		return Tally{}, fmt.Errorf("larger than %d bytes", maxSize)
	}
	var t Tally
	if err := json.Unmarshal(text, &t); err != nil {
		return Tally{}, err
	}
	switch {
	case t.Schema != Schema:
		return Tally{}, fmt.Errorf("schema %.40q, want %q", t.Schema, Schema)
	case t.Watched < 0 || len(t.Refusals) > maxRules:
		return Tally{}, errors.New("numbers that cannot be")
	}
	for _, r := range t.Refusals {
		if r.Containers > r.Times || r.Times == 0 || len(r.Seen) > maxSeen {
			return Tally{}, errors.New("numbers that cannot be")
		}
	}
	return t, nil
}

// Save writes what was counted since the last time, whole or not at all. It may
// wait for a disk.
func (c *Count) Save() error {
	c.saving.Lock()
	defer c.saving.Unlock()
	c.mu.Lock()
	if !c.dirty || c.tally.Schema == "" {
		c.mu.Unlock()
		return nil
	}
	copied := c.tally
	copied.Refusals = slices.Clone(copied.Refusals)
	for i, r := range copied.Refusals {
		copied.Refusals[i].Seen = slices.Clone(r.Seen)
	}
	c.dirty = false
	c.mu.Unlock()

	err := c.write(copied)
	if err != nil {
		c.mu.Lock()
		c.dirty = true
		c.mu.Unlock()
		return fmt.Errorf("keep the roll-out count: %w", err)
	}
	return nil
}

func (c *Count) write(t Tally) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	dir := filepath.Dir(c.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// The same name each time, so that crashes do not fill the directory.
	file, err := os.OpenFile(filepath.Join(dir, "."+fileName+".tmp"), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // gone already when all went well
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync() // else a power cut can leave an empty file
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), c.path)
}
