package ledger

import (
	"errors"
	"fmt"
	"io/fs"
)

// MarkRecorded notes that the trail has the start of a container. A process
// that takes over then knows which starts it has to make up for. A container
// without an entry is no error: it was removed meanwhile.
func (l *Ledger) MarkRecorded(id string) error {
	if err := checkID(id); err != nil {
		return fmt.Errorf("mark ledger entry: %w", err)
	}
	l.files.Lock()
	defer l.files.Unlock()
	e, ok := l.memory(id)
	if !ok {
		data, err := l.read(id)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			e, err = decode(data)
		}
		if err != nil {
			return fmt.Errorf("mark ledger entry %s: %w", l.path(id), err)
		}
	}
	if e.Recorded {
		return nil
	}
	e.Recorded = true
	data, err := encode(e)
	if err == nil {
		err = l.write(id, data)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, waits := l.pending[id]; waits {
		l.pending[id] = &e
		if err == nil {
			delete(l.pending, id) // it is written just now
		}
	}
	l.recent.put(e)
	if err != nil {
		return fmt.Errorf("mark ledger entry %s: %w", l.path(id), err)
	}
	return nil
}
