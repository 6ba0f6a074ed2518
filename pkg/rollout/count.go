package rollout

import (
	"hash/fnv"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Policy is the policy that is counted for.
type Policy struct{ SHA256, Name, Mode string }

// Refusal is one that there would have been.
type Refusal struct {
	PodUID         string // with Example.Container, what makes a container the same
	Rule, Position string
	Example        Example
	// Running says that the container runs already and would be refused when it is
	// made anew. However often that is found out, it is one refusal.
	Running bool
}

// Count counts. Its methods wait for no file and are safe for concurrent use;
// only Save writes.
type Count struct {
	path string

	mu    sync.Mutex
	tally Tally
	part  time.Duration // of a second that was watched
	dirty bool

	saving sync.Mutex // one Save at a time
}

// Open returns the count that is kept in a directory (settings.StateDir), empty
// where there is none. A file that cannot be used is an error; the count can be
// used all the same, begins anew and says so.
func Open(dir string) (*Count, error) {
	c := &Count{path: Path(dir)}
	tally, found, err := Read(dir)
	switch {
	case err != nil:
		c.tally.Note = "what was counted before is lost: " + bounded(err.Error())
	case found:
		c.tally = tally
	}
	return c, err
}

// Again takes what is kept by now in place of what was read at Open: another
// instance has counted meanwhile.
func (c *Count) Again() error {
	tally, found, err := Read(filepath.Dir(c.path))
	if err != nil || !found {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tally, c.part, c.dirty = tally, 0, false
	return nil
}

// Under says which policy is in force. Another one than before begins anew, which is
// reported.
func (c *Count) Under(p Policy, now time.Time) (anew bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tally.Policy == p.SHA256 && c.tally.Mode == p.Mode && c.tally.Schema != "" {
		return false
	}
	note := ""
	if c.tally.Schema == "" {
		note = c.tally.Note
	}
	c.tally = Tally{Schema: Schema, Policy: p.SHA256, Name: bounded(p.Name), Mode: p.Mode, Since: now, Note: note}
	c.part, c.dirty = 0, true
	return true
}

// Watch adds a time in which the policy watched.
func (c *Count) Watch(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.part += max(d, 0)
	whole := c.part.Truncate(time.Second)
	c.part -= whole
	c.tally.Watched += int64(whole / time.Second)
	c.dirty = true
}

// under reports whether the count is of a policy. A judgement can end when the next
// one is in force, and says nothing about that.
func (c *Count) under(p Policy) bool { return c.tally.Policy == p.SHA256 && c.tally.Mode == p.Mode }

// Created adds a container that was judged by a policy.
func (c *Count) Created(by Policy) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.under(by) {
		return
	}
	c.tally.Containers++
	c.dirty = true
}

// Would adds a refusal that there would have been by a policy, and reports whether
// it did: not one that is counted already, and none by a policy that is not in force.
func (c *Count) Would(by Policy, r Refusal, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.under(by) {
		return false
	}
	key := key(r.PodUID, r.Example.Container)
	rule, position := bounded(r.Rule), bounded(r.Position)
	i := slices.IndexFunc(c.tally.Refusals, func(o Refusals) bool { return o.Rule == rule && o.Position == position })
	if r.Running && c.counted(i, key) {
		return false
	}
	c.dirty = true
	if i < 0 {
		if len(c.tally.Refusals) >= maxRules {
			c.tally.More++
			return true
		}
		i = len(c.tally.Refusals)
		c.tally.Refusals = append(c.tally.Refusals, Refusals{Rule: rule, Position: position, First: now})
	}
	o := &c.tally.Refusals[i]
	o.Times++
	o.Last = now
	o.Example = Example{
		Namespace: bounded(r.Example.Namespace), Pod: bounded(r.Example.Pod), Container: bounded(r.Example.Container),
		Mount: bounded(r.Example.Mount), Reason: bounded(r.Example.Reason),
	}
	if slices.Contains(o.Seen, key) {
		return true
	}
	o.Containers++
	if len(o.Seen) >= maxSeen {
		o.Seen = slices.Delete(o.Seen, 0, 1)
	}
	o.Seen = append(o.Seen, key)
	return true
}

// counted reports whether a container that runs is counted already, or may be: where
// not all are remembered, each look would count them again.
func (c *Count) counted(rule int, key string) bool {
	if rule < 0 {
		return c.tally.More > 0
	}
	seen := c.tally.Refusals[rule].Seen
	return len(seen) >= maxSeen || slices.Contains(seen, key)
}

// Tally returns what was counted, without what it needs to know containers
// again.
func (c *Count) Tally() Tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tally.Shown()
}

func key(parts ...string) string {
	h := fnv.New64a()
	for _, p := range parts {
		_, _ = h.Write([]byte(p + "\x00")) // a hash takes all
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// bounded cuts a text from outside, so that nobody can make the file large.
func bounded(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxText)], "?")
}
