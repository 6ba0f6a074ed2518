// Package ledger keeps what was asked and decided for each container, from its
// creation to its removal. Validation, proof and repair compare with it; nobody
// decides on the result of an earlier decision.
//
// It is one file a container, in a directory that is gone after a reboot like
// the containers themselves.
package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/file"
)

// Entry is what was asked and decided for one container.
//
// The annotations of its pod are not kept, but for the one that tells static
// pods: they can be 256 KiB, and the runtime tells them again at every event.
type Entry struct {
	Schema       string          `json:"schema"` // set by Put
	Container    facts.Container `json:"container"`
	Outcomes     []facts.Outcome `json:"outcomes"`
	Mode         string          `json:"mode"` // of the policy: "enforce" or "audit"
	PolicyName   string          `json:"policy_name"`
	PolicySHA256 string          `json:"policy_sha256"`
	Created      time.Time       `json:"created"`
	// Runtime is the process of the runtime that created it or told of it, by
	// hostview.RuntimeIdentity; "" where that is not known.
	Runtime string `json:"runtime,omitempty"`
	Refused bool   `json:"refused,omitempty"`
	// Recorded says that the trail has the start of the container, or that it
	// was refused. Set by MarkRecorded.
	Recorded bool `json:"recorded,omitempty"`
	// Missed is set where the container was created unseen: the outcomes are
	// what would have been done, later.
	Missed bool `json:"missed,omitempty"`
}

// Ledger is a directory of entries. It is safe for concurrent use. One process
// writes; others may read meanwhile.
type Ledger struct {
	dir string

	files sync.Mutex // held while files change; taken before mu

	mu      sync.Mutex
	recent  recent
	pending map[string]*Entry // not written yet
}

// Open returns the ledger in a directory (settings.ContainersDir), which is
// made for root alone if it is not there. The Ledger can be used also where
// Open returns an error: Put then tries again.
func Open(dir string) (*Ledger, error) {
	l := &Ledger{dir: dir}
	if err := l.prepare(); err != nil {
		return l, fmt.Errorf("open ledger %s: %w", dir, err)
	}
	return l, nil
}

// Put writes the entry of a container in place of an earlier one, whole or not
// at all. The ledger keeps what e points to: do not change it afterwards.
//
// Where the directory is full or read-only Put returns an error, and Get finds
// the entry all the same until this process ends or many others came after it:
// the container itself need not fail.
func (l *Ledger) Put(e Entry) error { return l.Keep(e)() }

// Get returns a copy of the entry of a container, and false where there is
// none. An entry that is damaged or cannot be read is an error that names the
// file.
func (l *Ledger) Get(id string) (Entry, bool, error) {
	if err := checkID(id); err != nil {
		return Entry{}, false, fmt.Errorf("get ledger entry: %w", err)
	}
	if e, ok := l.memory(id); ok {
		return e, true, nil
	}
	data, err := l.read(id)
	if errors.Is(err, fs.ErrNotExist) {
		return Entry{}, false, nil
	}
	if err != nil {
		return Entry{}, false, fmt.Errorf("get ledger entry %s: %w", l.path(id), err)
	}
	e, err := decode(data)
	if err == nil && e.Container.ID != id {
		err = fmt.Errorf("it is about container %q", e.Container.ID)
	}
	if err != nil {
		return Entry{}, false, fmt.Errorf("get ledger entry %s: %w; remove the file to go on without it", l.path(id), err)
	}
	return e, true, nil
}

// Remove forgets a container. One without an entry is no error: the runtime
// removes containers that were never created.
func (l *Ledger) Remove(id string) error {
	if err := checkID(id); err != nil {
		return fmt.Errorf("remove ledger entry: %w", err)
	}
	l.files.Lock()
	defer l.files.Unlock()
	l.mu.Lock()
	l.recent.remove(id)
	delete(l.pending, id)
	l.mu.Unlock()
	for _, path := range []string{l.path(id), l.temporary(id)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove ledger entry %s: %w", path, file.Bare(err))
		}
	}
	return nil
}

// List returns the ids of all containers with an entry, sorted.
func (l *Ledger) List() ([]string, error) {
	l.files.Lock()
	defer l.files.Unlock()
	files, err := os.ReadDir(l.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list ledger %s: %w", l.dir, file.Bare(err))
	}
	var ids []string
	for _, entry := range files {
		id, ok := strings.CutSuffix(entry.Name(), extension)
		if ok && checkID(id) == nil {
			ids = append(ids, id)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.pending {
		ids = append(ids, id)
	}
	return l.recent.merge(ids), nil
}
