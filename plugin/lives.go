package main

import (
	"strconv"
	"sync"
	"time"

	"github.com/containerd/nri/pkg/api"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/leftover"
)

const (
	maxTold = 1024      // mounts that were recorded as left and are remembered
	toldFor = time.Hour // after which one that is still there is recorded again
)

// lives is what is kept of containers for the time after their end.
type lives struct {
	now func() time.Time

	mu   sync.Mutex
	byID map[string]life
	told map[string]time.Time // what was recorded as left, whoever left it
}

// life is one container from its creation to its removal. It is not changed,
// only replaced.
type life struct {
	container facts.Container
	since     time.Time
	rootfs    string   // "" until it starts
	shared    []string // canonical paths of the host that it can mount below
	baseline  *leftover.Baseline
	ended     bool // as an event of the runtime said
	stopped   bool // as the runtime did not list it as running
	atEnd     *leftover.Baseline
	others    []string // paths that others shared with the host when it ended
}

// runs reports a container that was proved to run, and of which no end is known.
func (l life) runs() bool { return l.rootfs != "" && !l.ended && !l.stopped }

func newLives(now func() time.Time) *lives {
	return &lives{now: now, byID: map[string]life{}, told: map[string]time.Time{}}
}

// change replaces what is kept of a container; the zero life is that of one
// which is not known.
func (l *lives) change(container facts.Container, how func(*life)) life {
	l.mu.Lock()
	defer l.mu.Unlock()
	one, ok := l.byID[container.ID]
	if !ok {
		one = life{container: container, since: l.now()}
	}
	how(&one)
	l.byID[container.ID] = one
	return one
}

// update is change for a container that is not forgotten yet.
func (l *lives) update(id string, how func(*life)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one, ok := l.byID[id]; ok {
		how(&one)
		l.byID[id] = one
	}
}

func (l *lives) get(id string) (life, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one, ok := l.byID[id]
	return one, ok
}

func (l *lives) remove(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.byID, id)
}

// keep forgets all that are not listed, but for those that the list can be too
// old for.
func (l *lives) keep(listed map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, one := range l.byID {
		if !listed[id] && l.now().Sub(one.since) > syncGrace {
			delete(l.byID, id)
		}
	}
}

// listed marks what the runtime does not list as running. It may come after a time
// in which we were told of no end.
func (l *lives) listed(containers []*api.Container) {
	running := make(map[string]bool, len(containers))
	for _, c := range containers {
		running[c.GetId()] = runs(c)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, one := range l.byID {
		one.stopped = !running[id]
		l.byID[id] = one
	}
}

// end marks a container as ended, and notes which paths others share with the
// host that have not. It returns what is kept, and whether it had not ended
// before.
func (l *lives) end(container facts.Container) (now life, first bool) {
	var others []string
	l.mu.Lock()
	for id, one := range l.byID {
		if id != container.ID && !one.ended {
			others = append(others, one.shared...)
		}
	}
	l.mu.Unlock()
	now = l.change(container, func(one *life) {
		if first = !one.ended; first {
			one.ended, one.others = true, others
		}
	})
	return now, first
}

// tell reports whether a mount is news: each container of a pod would tell of
// the same volume.
func (l *lives) tell(m leftover.Mount) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := m.Code + " " + strconv.Itoa(m.Count) + " " + m.MountPoint
	now := l.now()
	if at, ok := l.told[key]; ok && now.Sub(at) < toldFor {
		return false
	}
	if len(l.told) >= maxTold {
		clear(l.told)
	}
	l.told[key] = now
	return true
}
