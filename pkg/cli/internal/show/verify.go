package show

import (
	"cmp"
	"fmt"
	"io"

	"github.com/mountward/mountward/pkg/audit"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/verify"
	"github.com/mountward/mountward/pkg/volumes"
)

// VerifySchema names the JSON of Verification.
const VerifySchema = "mountward.verify/v1"

// Verification is what the verb "verify" found.
type Verification struct {
	Schema  string            `json:"schema"`
	Node    Node              `json:"node"`
	Tasks   []VerifiedTask    `json:"tasks"`
	Unknown []volumes.Unknown `json:"unknown"`
}

// VerifiedTask is one container: what was decided of it against what the
// kernel has.
type VerifiedTask struct {
	Container audit.Container `json:"container"`
	Namespace string          `json:"namespace"` // of containerd
	PID       int             `json:"pid,omitempty"`
	Known     bool            `json:"known"` // what mountward decided is known
	Identity  facts.Answer    `json:"identity"`
	Verdict   verify.Verdict  `json:"verdict"`       // of the whole container
	Why       string          `json:"why,omitempty"` // of an unknown one
	Mounts    []VerifiedMount `json:"mounts"`
}

// VerifiedMount is the verdict about one mount.
type VerifiedMount struct {
	Asked facts.Propagation `json:"asked"`
	verify.Proof
}

// Verified judges a container: drift where one mount drifted, else unknown
// where one thing could not be told, else the same.
func Verified(m volumes.Member) VerifiedTask {
	t := VerifiedTask{
		Container: audit.ContainerOf(m.Container), Namespace: m.Namespace, PID: m.PID,
		Known: m.Known, Identity: m.Identity, Verdict: verify.Same,
	}
	switch {
	case !m.Known && m.KnownWhy != "":
		t.Verdict, t.Why = verify.Unknown, "the record of what was decided about it cannot be read: "+m.KnownWhy
		return t
	case !m.Known:
		t.Verdict, t.Why = verify.Unknown, "mountward did not decide about it: it was not there when the container was created, or its records are gone"
		return t
	case m.Identity.Truth != facts.Yes:
		t.Verdict, t.Why = verify.Unknown, m.Identity.Why
	}
	asked := askedOf(m.Outcomes)
	for i, p := range m.Proofs {
		v := VerifiedMount{Proof: p}
		if i < len(asked) {
			v.Asked = asked[i]
		}
		t.Mounts = append(t.Mounts, v)
		switch {
		case p.Verdict == verify.Drift:
			t.Verdict = verify.Drift
		case p.Verdict != verify.Same && t.Verdict == verify.Same:
			t.Verdict = verify.Unknown
		}
	}
	return t
}

// askedOf lists what was asked for of the outcomes that verify.Mounts has a
// proof of, in its order.
func askedOf(outcomes []facts.Outcome) []facts.Propagation {
	var all []facts.Propagation
	for _, o := range outcomes {
		if o.Expected() != facts.Unset && o.Mount.Bind() {
			all = append(all, o.Asked)
		}
	}
	return all
}

// VerifyTable prints one line a mount, and one for a container about which
// there is nothing to compare.
func VerifyTable(w io.Writer, v Verification) error {
	if len(v.Tasks) == 0 {
		return nil
	}
	t := newTable(w, "CONTAINER", "TARGET", "ASKED", "DECIDED", "SEEN", "HOST", "VERDICT", "REASON")
	for _, task := range v.Tasks {
		namespace, pod, container := Task{Container: task.Container, Namespace: task.Namespace}.where()
		if pod != "-" {
			container = fmt.Sprintf("%s/%s/%s", namespace, pod, container)
		}
		if len(task.Mounts) == 0 || task.Why != "" {
			why := task.Why
			if why == "" {
				why = "no mount whose propagation was decided"
			}
			t.row(container, "-", "-", "-", "-", "-", string(task.Verdict), Line(why))
		}
		for _, m := range task.Mounts {
			t.row(container, Word(m.Destination), option(m.Asked), option(m.Decided), state(m.Seen), state(m.Host), string(m.Verdict), cmp.Or(Line(m.Reason), "-"))
		}
	}
	return t.flush()
}

// state is the propagation as mountinfo has it: a verdict is about the numbers
// of peer groups.
func state(s *facts.MountState) string {
	if s == nil {
		return "?"
	}
	return s.String()
}
