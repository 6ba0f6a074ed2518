package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/mountward/mountward/pkg/internal/wait"
	"github.com/mountward/mountward/pkg/ledger"
	"github.com/mountward/mountward/pkg/volumes"
)

// decided reads what the daemon wrote down at the containers' creation; nil
// where it has written nothing, and where that cannot be read, with the reason.
// A ledger is only opened where it is, since opening makes its directory.
func (n *node) decided(ctx context.Context) (get func(string) (volumes.Decided, bool, error), why string) {
	dir := n.settings.ContainersDir()
	kept, err := wait.For(ctx, fileWait, func() (*ledger.Ledger, error) {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return ledger.Open(dir)
	}, nil)
	if err != nil {
		if errors.Is(err, wait.ErrNoAnswer) {
			err = fmt.Errorf("%s: %w", dir, err)
		}
		n.unknown = append(n.unknown, volumes.Unknown{What: "what was decided", Why: err.Error()})
		return nil, err.Error()
	}
	if kept == nil {
		return nil, ""
	}
	return patient(ctx, dir, fileWait, kept.Get), ""
}

// patient reads entries of a ledger until one does not answer: then none of the
// others would.
func patient(ctx context.Context, dir string, most time.Duration, get func(string) (ledger.Entry, bool, error)) func(string) (volumes.Decided, bool, error) {
	type entry struct {
		ledger.Entry
		known bool
	}
	var mu sync.Mutex
	var hung error
	return func(id string) (volumes.Decided, bool, error) {
		mu.Lock()
		err := hung
		mu.Unlock()
		if err != nil {
			return volumes.Decided{}, false, err
		}
		e, err := wait.For(ctx, most, func() (entry, error) {
			e, known, err := get(id)
			return entry{e, known}, err
		}, nil)
		if errors.Is(err, wait.ErrNoAnswer) {
			err = fmt.Errorf("%s: %w", dir, err)
			mu.Lock()
			hung = err
			mu.Unlock()
		}
		return volumes.Decided{Container: e.Container, Outcomes: e.Outcomes}, e.known, err
	}
}
