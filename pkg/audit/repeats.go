package audit

import (
	"container/list"
	"crypto/sha256"
	"strconv"
	"sync"
	"time"
)

// RepeatKey is what makes two decisions the same: one pod's container, one
// policy, the same outcomes.
type RepeatKey struct {
	PodUID, Container, PolicySHA256 string
	Outcomes                        [sha256.Size]byte
}

// KeyOf returns the key of a decision. Left out is what differs from one try of
// a looping pod to the next: ids, sources (the kubelet makes a new termination
// log each time), mount ids and peer groups, and reasons that may name them.
func KeyOf(d Decision) RepeatKey {
	text := strconv.AppendBool(make([]byte, 0, 4096), d.Refused)
	add := func(words ...string) {
		for _, word := range words { // with its length, so that no two lists read alike
			text = append(append(strconv.AppendInt(text, int64(len(word)), 10), ':'), word...)
		}
	}
	for _, o := range d.Outcomes {
		text = append(text, '\n', byte('0'+o.Asked), byte('0'+o.Decided))
		text = strconv.AppendBool(text, o.Would)
		add(o.Mount.Destination, string(o.Action), string(o.Result), o.Rule, o.Position)
		text = append(text, '+')
		add(o.Noted()...)
	}
	for _, f := range d.Findings {
		text = append(text, '\n', '-')
		add(f.Code, f.Mount)
	}
	return RepeatKey{
		PodUID: d.Container.Pod.UID, Container: d.Container.Name, PolicySHA256: d.Policy.SHA256,
		Outcomes: sha256.Sum256(text),
	}
}

// Repeats keeps a looping pod from filling the trail: the first of several same
// decisions is recorded at once, the others are counted and recorded at most
// once an interval. It is safe for concurrent use.
type Repeats struct {
	max   int
	every time.Duration

	mu    sync.Mutex
	byKey map[RepeatKey]*list.Element
	order *list.List // of *repeat, the one seen last in front
}

type repeat struct {
	key      RepeatKey
	recorded time.Time
	count    int // since recorded
}

// The limits that the daemon uses.
const (
	RepeatsKept  = 4096
	RepeatsEvery = 10 * time.Minute
)

// NewRepeats returns a Repeats that knows at most keep decisions (the one that
// was not seen for longest is forgotten first) and lets each through once an
// interval.
func NewRepeats(keep int, every time.Duration) *Repeats {
	return &Repeats{max: keep, every: every, byKey: map[RepeatKey]*list.Element{}, order: list.New()}
}

// See notes one more decision with this key at the time now. It reports whether
// to record it, and then how often it came since the last record, this time
// included, for Decision.Repeated. A decision that does not come again is not recorded again:
// its last count stays unsaid.
func (r *Repeats) See(key RepeatKey, now time.Time) (repeated int, record bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	element, known := r.byKey[key]
	if !known {
		r.byKey[key] = r.order.PushFront(&repeat{key: key, recorded: now})
		if r.order.Len() > r.max {
			oldest := r.order.Remove(r.order.Back()).(*repeat)
			delete(r.byKey, oldest.key)
		}
		return 0, true
	}
	r.order.MoveToFront(element)
	seen := element.Value.(*repeat)
	seen.count++
	// A clock that was set back must not silence a decision for longer.
	if since := now.Sub(seen.recorded); since >= 0 && since < r.every {
		return 0, false
	}
	repeated, seen.count, seen.recorded = seen.count, 0, now
	return repeated, true
}
