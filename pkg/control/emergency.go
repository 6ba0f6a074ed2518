package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/mountward/mountward/pkg/internal/file"
)

// Emergency is the note of one that is on. It lies in the runtime directory, so
// that a daemon which starts meanwhile stands aside as well, and is gone after a
// reboot.
type Emergency struct {
	Schema string    `json:"schema"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
}

const (
	noteName   = "emergency.json"
	noteSchema = "mountward.emergency-note/v1"
	maxNote    = 4 << 10 // bytes
)

// ReadEmergency returns the emergency that is noted in a runtime directory, and
// false where none is. One that no command could have noted is an error: it must
// not switch anything off.
func ReadEmergency(dir string) (Emergency, bool, error) {
	path := filepath.Join(dir, noteName)
	text, err := file.ReadRegular(path, maxNote)
	if errors.Is(err, fs.ErrNotExist) {
		return Emergency{}, false, nil
	}
	if err == nil {
		err = file.Guarded(dir)
	}
	if err != nil {
		return Emergency{}, false, fmt.Errorf("read the note of an emergency %s: %w", path, err)
	}
	var e Emergency
	if err := json.Unmarshal(text, &e); err != nil {
		return Emergency{}, false, fmt.Errorf("read the note of an emergency %s: %w", path, err)
	}
	if d := e.Until.Sub(e.Since); e.Schema != noteSchema || CheckEmergency(d) != nil {
		return Emergency{}, false, fmt.Errorf("read the note of an emergency %s: no command wrote this", path)
	}
	return e, true, nil
}

// On reports whether the emergency is on. One that began later than now was noted
// by a clock that was wrong, and is not.
func (e Emergency) On(now time.Time) bool { return !now.Before(e.Since) && now.Before(e.Until) }

// Write notes the emergency in a runtime directory, whole or not at all.
func (e Emergency) Write(dir string) error {
	e.Schema = noteSchema
	text, err := json.Marshal(e)
	if err == nil {
		err = prepare(dir)
	}
	if err == nil {
		temporary := filepath.Join(dir, "."+noteName+".tmp")
		if err = os.WriteFile(temporary, text, 0o600); err == nil {
			err = os.Rename(temporary, filepath.Join(dir, noteName))
		}
		if err != nil {
			_ = os.Remove(temporary) // it may not be there
		}
	}
	if err != nil {
		return fmt.Errorf("note the emergency: %w", err)
	}
	return nil
}

// Remove removes the note of this emergency, and leaves that of another one, which
// a later command has noted.
func (e Emergency) Remove(dir string) error {
	now, noted, err := ReadEmergency(dir)
	if err == nil && (!noted || !now.Since.Equal(e.Since) || !now.Until.Equal(e.Until)) {
		return nil
	}
	return RemoveEmergency(dir)
}

// RemoveEmergency removes the note, if there is one, whosever it is.
func RemoveEmergency(dir string) error {
	err := os.Remove(filepath.Join(dir, noteName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the note of an emergency: %w", err)
	}
	return nil
}
