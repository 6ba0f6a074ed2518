package policy

// Among returns the policy with some of its rules alone, by their places in
// Rules and in the order given. It is for asking what they decide among
// themselves; it has no checksum and no hazards.
func (p *Policy) Among(places []int) *Policy {
	some := &Policy{
		Version: p.Version, Mode: p.Mode, Default: p.Default, Name: p.Name,
		Rules:    make([]Rule, 0, len(places)),
		position: p.position, globs: p.globs, prefixes: p.prefixes, defaultAt: p.defaultAt, asked: p.asked,
	}
	some.expansion.Store(p.expansion.Load())
	for _, i := range places {
		some.Rules = append(some.Rules, p.Rules[i])
	}
	return some
}
