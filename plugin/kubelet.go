package main

import (
	"context"
	"sync"
	"time"

	"github.com/mountward/mountward/pkg/discover"
)

const (
	// kubeletAge is how old the answer may be before it is looked for anew.
	kubeletAge = 30 * time.Second
	// kubeletWait is how long a creation waits for a search while no kubelet is
	// known. It is the search that has this time, not each creation: one that
	// hangs costs it once.
	kubeletWait = 100 * time.Millisecond
)

// kubelet knows the kubelet's root directory. It is found by a search through
// all processes, which can take long and can even hang: the search runs by
// itself, one at a time, and who asks gets the last answer.
type kubelet struct {
	search func() (root, evidence string, found bool)
	tell   func(root, evidence string) // a new answer

	mu       sync.Mutex // held for these alone, never while searching
	root     string
	found    bool
	answered time.Time
	began    time.Time
	running  chan struct{} // closed when the search that runs ends; nil: none does
}

func newKubelet(proc string, tell func(root, evidence string)) *kubelet {
	return &kubelet{
		search: func() (string, string, bool) { return discover.KubeletRoot(proc) },
		tell:   tell,
		root:   discover.DefaultKubeletRoot,
	}
}

// last returns the last answer.
func (k *kubelet) last() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.root
}

// begin starts a search unless the answer is fresh or a search runs. It returns
// what is closed when the search ends, nil where there is nothing to wait for.
func (k *kubelet) begin() (searching <-chan struct{}, until time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.found && time.Since(k.answered) <= kubeletAge {
		return nil, time.Time{}
	}
	if k.running == nil {
		k.began, k.running = time.Now(), make(chan struct{})
		go k.look(k.running)
	}
	if k.found {
		return nil, time.Time{}
	}
	return k.running, k.began.Add(kubeletWait)
}

// refresh is for a creation. The kubelet starts after us, and its first pods
// must not be judged by the wrong root: while none is known, it is looked for
// now.
func (k *kubelet) refresh(ctx context.Context) {
	searching, until := k.begin()
	if searching == nil {
		return
	}
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	select {
	case <-searching:
	case <-ctx.Done():
	}
}

// look searches. A root that was found holds until another one is: the kubelet
// may just be restarting.
func (k *kubelet) look(done chan struct{}) {
	defer close(done)
	late := time.AfterFunc(kubeletAge, func() {
		k.tell(k.last(), "the search for its process does not end; this is what was known before")
	})
	defer late.Stop()
	root, evidence, found := k.search()
	k.mu.Lock()
	news := found != k.found || found && root != k.root || k.answered.IsZero()
	if found {
		k.root = root
	}
	k.found, k.answered, k.running = found, time.Now(), nil
	root = k.root
	k.mu.Unlock()
	if news {
		k.tell(root, evidence)
	}
}
