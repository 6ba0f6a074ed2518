package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// Env is what a decision knows of the node.
type Env struct {
	Vars
	// Prefixes is the host view of the paths that Policy.Prefixes names. One
	// that is missing could not be resolved; its spelling alone counts.
	Prefixes map[string]facts.HostMount
}

// Prefixes returns the host paths at which the source globs of the rules
// start: the literal part of each, with variables replaced. They are sorted,
// and each is there once. A glob whose variable is not known has none.
func (p *Policy) Prefixes(v Vars) []string {
	var all []string
	for _, g := range p.prefixes {
		if prefix, missing := v.expand(g.prefix, false); missing == "" {
			all = append(all, path.Clean(prefix))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// binding holds the path globs of a policy with the values of one node. A glob
// is bound when a rule first needs it, once for all mounts of a container.
type binding struct {
	env   Env
	globs []boundGlob
}

type boundGlob struct {
	ready     bool
	missing   string // variable whose value is not known
	prefix    string
	canonical string // the prefix without symbolic links, "" where not resolved
	identity  facts.Identity
	rest      string
}

func (b *binding) glob(g *pathGlob) *boundGlob {
	bound := &b.globs[g.id]
	if bound.ready {
		return bound
	}
	prefix, missing := b.env.expand(g.prefix, false)
	rest, missingBelow := b.env.expand(g.rest, true)
	if missing == "" {
		missing = missingBelow
	}
	*bound = boundGlob{ready: true, missing: missing, prefix: path.Clean(prefix), rest: strings.ReplaceAll(rest, "//", "/")}
	if host, ok := b.env.Prefixes[bound.prefix]; ok {
		bound.canonical, bound.identity = host.Canonical, host.Identity()
	}
	return bound
}

// spelled reports whether a clean path is in the glob, as it is written or
// with its prefix resolved.
func (g *boundGlob) spelled(p string) bool {
	return p != "" && (g.below(p, g.prefix) || g.canonical != "" && g.below(p, g.canonical))
}

// leads reports whether what a path leads to is what the glob leads to.
func (g *boundGlob) leads(id facts.Identity) bool {
	return !id.IsZero() && !g.identity.IsZero() && id.Device == g.identity.Device && g.below(id.Root, g.identity.Root)
}

func (g *boundGlob) below(p, prefix string) bool {
	if !strings.HasPrefix(p, prefix) { // nearly always, and cheaper than what follows
		return false
	}
	rest, ok := facts.Below(p, prefix)
	return ok && matchRest(g.rest, rest)
}
