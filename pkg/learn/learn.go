package learn

import (
	"fmt"
	"slices"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/lint"
	"github.com/mountward/mountward/pkg/policy"
)

// The names of the files that are written. The tests name the policy.
const (
	PolicyName = "policy.toml"
	TestsName  = "policy_test.toml"
)

// Seen is what is to be learned from.
type Seen struct {
	From       string            // for people: "the containers of this node", "the trail audit.jsonl"
	Vars       policy.Vars       // of the node
	Containers []facts.Container // as they asked to be, sources resolved where that is known
	Changed    int               // mounts that have another propagation than they asked for, by the policy of then
	Unknown    []facts.Unread    // what could not be read
}

// Learned is what was learned.
type Learned struct {
	Policy  []byte         // of PolicyName
	Tests   []byte         // of TestsName
	Rules   int            // of the policy
	Unknown []facts.Unread // what could not be read, and what the policy does not allow though it was seen
}

// Learn writes a policy and its tests. An error says that no policy can hold all
// that was seen: it would be too large.
func Learn(s Seen) (Learned, error) {
	b := newBook(s)
	rules := b.rules()
	unknown := append([]facts.Unread{}, s.Unknown...)
	unknown = append(unknown, b.unknown...)
	p, err := parse(render(s, rules, b, nil))
	if err != nil {
		return Learned{}, err
	}
	strange(rules, p, s.Vars)
	unknown = append(unknown, b.denied(p)...)
	tests, left := b.tests(s, p)
	unknown = sorted(append(unknown, left...))
	text := render(s, rules, b, unknown)
	if _, err := parse(text); err != nil {
		return Learned{}, err
	}
	return Learned{Policy: text, Tests: tests, Rules: len(rules), Unknown: unknown}, nil
}

func parse(text []byte) (*policy.Policy, error) {
	p, err := policy.Parse(policy.File{Name: PolicyName, Data: text})
	if err != nil {
		return nil, fmt.Errorf("write a policy of what was seen: %w", err)
	}
	return p, nil
}

// strange marks the rules with names that Kubernetes would not make, of which lint
// says that nothing can match: something of that name runs.
func strange(rules []rule, p *policy.Policy, v policy.Vars) {
	for _, f := range lint.Check(p, lint.Options{Vars: v}) {
		i := slices.IndexFunc(rules, func(r rule) bool { return r.name == f.Rule })
		if i >= 0 && f.Code == facts.LintGlob {
			rules[i].strange = true
		}
	}
}

// denied returns what was seen and the policy would not allow. There should be
// nothing; a name of a strange form is no reason to say so without a look.
func (b *book) denied(p *policy.Policy) (all []facts.Unread) {
	for _, c := range b.containers {
		for i, d := range p.Decide(c, policy.Env{Vars: b.vars}, false) {
			m := c.Mounts[i]
			if d.Action != facts.ActionAllow && !b.left[place{c.ID, i}] {
				all = append(all, facts.Unread{
					What: "mount " + m.Destination + " of " + describe(c),
					Why:  fmt.Sprintf("the names are of a form that no rule could be written for, so that %s is not allowed", m.Requested()),
				})
			}
		}
	}
	return all
}
