package policy

import "github.com/mountward/mountward/pkg/facts"

// subject is one container on one node.
type subject struct {
	binding
	container *facts.Container
	static    facts.Answer
	hazards   map[string][]facts.Hazard // by destination; nil until asked for
	trace     bool
}

// query is one of its mounts, prepared for matching.
type query struct {
	*subject
	mount       *facts.Mount
	decision    *Decision // what is known of it so far
	asked       facts.Propagation
	raw         string // destination as given
	destination string
	given       string         // source, cleaned; "" where it is not absolute
	canonical   string         // source on the host; "" where not resolved, or as given
	identity    facts.Identity // what the source leads to; zero where not known
	moved       bool           // what is mounted is not what the source led to
	resolved    bool           // identity of the source on the host is known
}

func (q *query) ask(m *facts.Mount) {
	q.mount, q.asked, q.raw, q.destination = m, m.Requested(), m.Destination, m.CleanDestination()
	q.given, _ = facts.CleanAbs(m.Source)
	q.canonical, q.identity = "", m.Leads
	if m.Host != nil {
		q.canonical, q.identity = m.Host.Canonical, m.Host.Identity()
	}
	if q.canonical == q.given {
		q.canonical = "" // says nothing more, and need not be compared
	}
	q.resolved, q.moved = !q.identity.IsZero(), false
	if !m.Actual.IsZero() {
		q.moved = m.Actual != q.identity
		q.identity = m.Actual
	}
}
