package ledger

import "fmt"

// Keep takes the entry of a container in place of an earlier one: Get finds it
// from now on. The file is for the time after this process, and is written by
// the function that Keep returns, so that a creation need not wait for it; it
// returns what Put returns. Where the entry was removed or replaced meanwhile it
// writes nothing or the later one. What a crash comes before is lost: the start
// of that container can then not be compared. The ledger keeps what e points to:
// do not change it afterwards.
func (l *Ledger) Keep(e Entry) (write func() error) {
	id := e.Container.ID
	if err := checkID(id); err != nil {
		err = fmt.Errorf("put ledger entry: %w", err)
		return func() error { return err }
	}
	e = normal(e)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recent.put(e)
	if l.pending == nil {
		l.pending = map[string]*Entry{}
	}
	l.pending[id] = &e
	return func() error { return l.writePending(id) }
}

// writePending writes the entry of a container that was kept last, if it is not
// written yet.
func (l *Ledger) writePending(id string) error {
	l.files.Lock()
	defer l.files.Unlock()
	l.mu.Lock()
	e := l.pending[id]
	l.mu.Unlock()
	if e == nil {
		return nil
	}
	data, err := encode(*e)
	if err == nil {
		err = l.write(id, data)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.pending[id] == e {
		delete(l.pending, id)
	}
	if err != nil {
		return fmt.Errorf("put ledger entry %s: %w", l.path(id), err)
	}
	return nil
}

// memory returns an entry that needs no file.
func (l *Ledger) memory(id string) (Entry, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.pending[id]; ok {
		return clone(*e), true
	}
	e, ok := l.recent.get(id)
	return clone(e), ok
}
