package policy

import (
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

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
func (p *Policy) AsksPrivilege() bool { return p.asked[keyPrivileged] }

// AsksHazards reports whether a rule asks for hazards. Where none does,
// Container.Hazards need not be known.
func (p *Policy) AsksHazards() bool { return p.asked[keyHazard] }

// AsksVolumes reports whether a rule asks for the volume of a mount. Where none
// does, Mount.Volume need not be known.
func (p *Policy) AsksVolumes() bool { return p.asked[keyVolume] }

// AsksKinds reports whether a rule asks for the kind of a volume, which the path
// of a sub-path does not tell.
func (p *Policy) AsksKinds() bool { return p.asked[keyVolumeKind] }

// AsksDrivers reports whether a rule asks for the driver of a volume, which
// nearly always only a file of the kubelet tells.
func (p *Policy) AsksDrivers() bool { return p.asked[keyVolumeDriver] }

// AsksStorage reports whether a rule asks for logical volumes. Where none does,
// Mount.Storage need not be known.
func (p *Policy) AsksStorage() bool { return p.asked[keyLVM] }

// asked returns the keys that the rules ask for, and the tables that these are
// in.
func asked(rules []Rule) map[string]bool {
	all := map[string]bool{}
	for i := range rules {
		rules[i].match.note(all)
		if rules[i].except != nil {
			rules[i].except.note(all)
		}
	}
	return all
}

func (c condition) note(all map[string]bool) {
	for _, s := range c.keys {
		table, _, _ := strings.Cut(s.key(), ".")
		all[table], all[s.key()] = true, true
		if t, ok := s.(together); ok {
			condition{keys: t.keys}.note(all)
		}
	}
}

// names reports whether the condition has the key.
func (c condition) names(key string) bool {
	return slices.ContainsFunc(c.keys, func(s selector) bool { return s.key() == key })
}

// Asks reports whether the rule has a key, under match or except. One label of
// pod_labels counts as the key.
func (r *Rule) Asks(key string) bool {
	return r.match.asks(key) || r.except != nil && r.except.asks(key)
}

func (c condition) asks(key string) bool {
	return slices.ContainsFunc(c.keys, func(s selector) bool {
		t, ok := s.(together)
		return KeyOf(s.key()) == key || ok && condition{keys: t.keys}.asks(key)
	})
}

// KeyOf returns the key of a policy that the selector of a Step is of: without
// "except.", and without the name of a label.
func KeyOf(selector string) string {
	key := strings.TrimPrefix(selector, "except.")
	key, _, _ = strings.Cut(key, `."`)
	return key
}
