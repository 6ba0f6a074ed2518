package apply

import (
	"context"
	"fmt"
	"sync"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/policy"
	"github.com/mountward/mountward/pkg/verify"
)

// maxStuck bounds the threads that can be stuck in mount namespaces at one
// time; each keeps the mounts of a container.
const maxStuck = 8

// Namespace applies decisions in the mount namespace of a container that was
// made and whose own code does not run yet. It does what the specification
// cannot carry, and no more:
//
//   - outcomes that Spec deferred: id-mapped mounts, equal destinations, binds
//     without a word beside a lowered rshared;
//   - mounts that nobody asked for (CDI, hooks, other plugins), where a rule sets
//     them, or where they are peers of the host only because rootfsPropagation
//     stays rshared after the last rshared was lowered.
//
// It lowers by mount_setattr and raises to a slave of the host's mount, never
// further. A mount is reached by its mount point without a symbolic link and only
// changed if it is the very mount that was proved to be meant; each is done or
// untouched. It takes CAP_SYS_ADMIN, CAP_SYS_CHROOT and CAP_SYS_PTRACE, and Linux
// 5.12, for raises 5.15.
//
// The zero value is ready. It is safe for concurrent use.
type Namespace struct {
	mu      sync.Mutex
	running int
}

// NamespaceRequest is what Namespace works on. Process is proved to be in the
// container, and Table is the one that the proof rests on.
type NamespaceRequest struct {
	Process  *hostview.Process
	Table    *hostview.Table
	Host     *hostview.View
	Outcomes []facts.Outcome
	Located  verify.Located // the outcomes in Table
	Lookup   verify.Lookup  // of the host

	// Enforce is false in audit mode: it is said what would be done.
	Enforce bool
	// NeverRefuse is set for static pods.
	NeverRefuse  bool
	Raise, Lower policy.OnUnmet
	// Decide asks the policy about mounts that nobody asked for; nil for none.
	Decide func([]facts.Mount) []policy.Decision
}

// NamespaceResult is what came of it.
type NamespaceResult struct {
	// Outcomes are those of the request, in order; none is deferred any more
	// unless it only would have been.
	Outcomes []facts.Outcome
	// Strays are the outcomes of mounts nobody asked for that something was to
	// be done about.
	Strays   []facts.Outcome
	Findings []facts.Finding
	Settled  bool  // an outcome is another than in the request
	Refusal  error // nil unless the container is refused
}

// Idle reports whether there was nothing to do and nothing to say.
func (r NamespaceResult) Idle() bool {
	return !r.Settled && len(r.Strays) == 0 && len(r.Findings) == 0
}

// Apply makes the decisions true and returns at the latest when ctx ends: a
// thread that hangs in a file system is left behind, changes nothing any more,
// and what it has not done cannot be told. No descriptor is kept.
func (n *Namespace) Apply(ctx context.Context, r NamespaceRequest) NamespaceResult {
	p := namespacePlanner{NamespaceRequest: r, ctx: ctx}
	p.index()
	changes := append(p.deferred(), p.unasked()...)
	if r.Enforce {
		n.act(ctx, r, changes)
	}
	return conclude(r, changes, p.findings)
}

// CannotTell is the result where the process is not known to be the container's:
// nothing is changed and nothing refused.
func CannotTell(outcomes []facts.Outcome, why string) NamespaceResult {
	r := NamespaceResult{Outcomes: append([]facts.Outcome(nil), outcomes...)}
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Result == facts.Deferred && !o.Would {
			leave(o, "cannot tell whether it can be "+o.Decided.Option()+": "+why)
			r.Settled = true
		}
	}
	return r
}

// leave turns an outcome into one that was left as asked.
func leave(o *facts.Outcome, why string) {
	o.Result, o.Wanted, o.Decided, o.Reason, o.Required = facts.Left, o.Decided, o.Asked, why, false
}

// change is one mount that something was decided about, and what came of it.
type change struct {
	index   int           // of the outcome; -1 for a mount that nobody asked for
	outcome facts.Outcome // of that one
	entry   hostview.Entry
	verb    verb
	why     string
	source  string    // of a raise: the host's path
	whole   bool      // a lowering of all that lies on it, in one call
	along   []change  // what came along with it, done after it
	added   []*change // the host's mounts that a raised one lacked

	missing error // why it is not known what a raised one lacks

	done bool
	err  error // why it was not done; an *unsure one tells nothing
}

func (c *change) destination() string { return c.outcome.Mount.Destination }

// say describes the change of one mount.
func (c *change) say() string {
	how := map[verb]string{makePrivate: "made private", makeSlave: "made a slave", raise: "made a slave of the host's " + c.source}[c.verb]
	return fmt.Sprintf("%s %s (mount %d, which was %s)", c.entry.MountPoint, how, c.entry.ID, c.entry.State)
}

// start counts a thread, false where too many are stuck.
func (n *Namespace) start() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.running >= maxStuck {
		return false
	}
	n.running++
	return true
}

func (n *Namespace) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.running--
}
