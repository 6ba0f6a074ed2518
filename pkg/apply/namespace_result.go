package apply

import (
	"errors"
	"fmt"
	"os"

	"github.com/mountward/mountward/pkg/facts"
)

// conclude turns what was done into outcomes and findings.
func conclude(r NamespaceRequest, changes []change, findings []facts.Finding) NamespaceResult {
	result := NamespaceResult{Outcomes: append([]facts.Outcome(nil), r.Outcomes...), Findings: findings}
	for i := range changes {
		c := &changes[i]
		o := c.outcome
		if c.index < 0 || !o.Would {
			o = result.settle(c, r)
			result.Settled = result.Settled || c.index >= 0
		}
		if c.index >= 0 {
			result.Outcomes[c.index] = o
		} else {
			result.Strays = append(result.Strays, o)
		}
		if o.Result == facts.Refused && result.Refusal == nil {
			result.Refusal = errors.New(Refusal(o))
		}
	}
	return result
}

func (r *NamespaceResult) finding(code string, c *change, format string, args ...any) {
	r.Findings = append(r.Findings, facts.Finding{Code: code, Mount: c.destination(), Message: fmt.Sprintf(format, args...)})
}

// settle returns the outcome of one change.
func (r *NamespaceResult) settle(c *change, request NamespaceRequest) facts.Outcome {
	o := c.outcome
	required := o.Required && !request.NeverRefuse
	o.Required = false
	switch {
	case !request.Enforce && c.verb.acts():
		o.Result, o.Would = facts.Applied, true
		r.finding("namespace-would", c, "would be changed in the container's mount namespace: %s", c.say())
	case c.verb == keep, c.done:
		o.Result = facts.Applied
		if c.done {
			r.finding("namespace-applied", c, "%s", c.say())
			r.along(c)
			r.idMapped(c)
		}
	default:
		why := c.why
		var perhaps *unsure
		if c.err != nil {
			why = hinted(c.err).Error()
		}
		if c.verb == cannotTell || errors.As(c.err, &perhaps) || !request.Enforce {
			r.finding("cannot-tell", c, "not changed in the container's mount namespace: %s", why)
			leave(&o, "cannot tell whether it can be "+o.Decided.Option()+": "+why)
			return o
		}
		leave(&o, "cannot be "+o.Decided.Option()+": "+why)
		if required {
			o.Result = facts.Refused
		}
	}
	return o
}

// idMapped says what a raise means where the mount maps ids.
func (r *NamespaceResult) idMapped(c *change) {
	if c.verb == raise && idMapped(c.entry) {
		r.finding("later-mounts-not-idmapped", c,
			"%s is id-mapped, and what the host mounts below it later will not be: files there have owners that the container does not know", c.entry.MountPoint)
	}
}

// along says what became of the mounts that came along with a changed one.
func (r *NamespaceResult) along(c *change) {
	for i := range c.along {
		a := &c.along[i]
		switch {
		case a.done:
			r.finding("namespace-applied", c, "%s", a.say())
		case a.err != nil:
			r.finding("submount-left", c, "%s was not changed: %v", a.entry.MountPoint, a.err)
		default:
			r.finding("submount-left", c, "%s was not changed: %s", a.entry.MountPoint, a.why)
		}
	}
	if c.missing != nil {
		r.finding("cannot-tell", c, "mounts of the host may be missing below it: %v", c.missing)
	}
	for _, a := range c.added {
		if a.done {
			r.finding("submount-added", c, "%s of the host was missing below it and was added", a.source)
		} else {
			r.finding("submount-left", c, "%s of the host is missing below it and was not added: %v", a.source, a.err)
		}
	}
}

// hinted adds the cure to what a missing capability says.
func hinted(err error) error {
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("%w (apply.namespace needs CAP_SYS_ADMIN, CAP_SYS_CHROOT and CAP_SYS_PTRACE; for the service: make install-namespace)", err)
	}
	return err
}
