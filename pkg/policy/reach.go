package policy

import "github.com/mountward/mountward/pkg/facts"

// Denies reports whether the policy can deny any mount, by a rule or by its
// default. Where it cannot there is nothing to decide once more at start.
func (p *Policy) Denies() bool {
	if p.Default == facts.ActionDeny {
		return true
	}
	for i := range p.Rules {
		if p.Rules[i].Action == facts.ActionDeny && !p.Rules[i].Audit {
			return true
		}
	}
	return false
}

// AsksPrivilege reports whether a rule asks if the container is privileged.
// Where none does, a better answer at start can change no decision.
func (p *Policy) AsksPrivilege() bool { return p.asks(keyPrivileged) }

// AsksHazards reports whether a rule asks for hazards. Where none does,
// Container.Hazards need not be known.
func (p *Policy) AsksHazards() bool { return p.asks(keyHazard) }

func (p *Policy) asks(key string) bool {
	for i := range p.Rules {
		rule := &p.Rules[i]
		if rule.match.names(key) || rule.except != nil && rule.except.names(key) {
			return true
		}
	}
	return false
}

// names reports whether the condition has the key.
func (c condition) names(key string) bool {
	for _, s := range c {
		if s.key() == key {
			return true
		}
	}
	return false
}
