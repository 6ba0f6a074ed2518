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
	expanded := p.expanded(v)
	for _, g := range p.prefixes {
		if e := &expanded[g.id]; e.prefixMissing == "" {
			all = append(all, e.prefix)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// expansion is the path globs of a policy with the variables of one node.
type expansion struct {
	vars  Vars
	globs []expandedGlob
}

type expandedGlob struct {
	missing       string // variable whose value is not known
	prefixMissing string // the same, of the prefix alone
	prefix        string
	rest          restGlob
}

// expanded returns the path globs with the variables replaced. The last answer
// is kept: the variables of a node hardly ever change.
func (p *Policy) expanded(v Vars) []expandedGlob {
	if last := p.expansion.Load(); last != nil && last.vars == v {
		return last.globs
	}
	all := make([]expandedGlob, len(p.globs))
	for i, g := range p.globs {
		all[i] = g.expand(v)
	}
	p.expansion.Store(&expansion{v, all})
	return all
}

func (g *pathGlob) expand(v Vars) expandedGlob {
	prefix, missing := v.expand(g.prefix, false)
	rest, missingBelow := v.expand(g.rest, true)
	e := expandedGlob{missing, missing, path.Clean(prefix), newRestGlob(strings.ReplaceAll(rest, "//", "/"))}
	if missing == "" {
		e.missing = missingBelow
	}
	return e
}

// binding holds the path globs of a policy with what their prefixes lead to. A
// glob is bound when a rule first needs it, once for all mounts of a container.
type binding struct {
	prefixes map[string]facts.HostMount
	globs    []boundGlob
	expanded []expandedGlob
	spare    *[]boundGlob // globs, as they are given back
}

type boundGlob struct {
	*expandedGlob
	canonical string // the prefix without symbolic links, "" where not resolved
	// root and under are the two parts of what the prefix leads to in the
	// superblock, where that is known: they are put together for no rule.
	known       bool
	device      facts.DeviceNumber
	root, under string
}

func (p *Policy) bind(env Env) binding {
	globs, ok := p.spare.Get().(*[]boundGlob)
	if !ok {
		all := make([]boundGlob, len(p.globs))
		globs = &all
	}
	return binding{env.Prefixes, *globs, p.expanded(env.Vars), globs}
}

// release gives back what a decision took, which is over: a long policy would cost
// every container some hundred thousand bytes.
func (p *Policy) release(b binding) {
	clear(b.globs)
	p.spare.Put(b.spare)
}

func (b *binding) glob(g *pathGlob) *boundGlob {
	bound := &b.globs[g.id]
	if bound.expandedGlob != nil {
		return bound
	}
	bound.expandedGlob = &b.expanded[g.id]
	if host, ok := b.prefixes[bound.prefix]; ok {
		bound.canonical, bound.device, bound.root = host.Canonical, host.Device, host.Root
		bound.under, bound.known = facts.Below(host.Canonical, host.MountPoint)
		bound.known = bound.known && host.Root != ""
	}
	return bound
}

// spelled reports whether a clean path is in the glob, as it is written or
// with its prefix resolved.
func (g *boundGlob) spelled(p string) bool {
	return p != "" && (g.below(p, g.prefix) || g.canonical != "" && g.canonical != g.prefix && g.below(p, g.canonical))
}

// leads reports whether what a path leads to is what the glob leads to.
func (g *boundGlob) leads(id *facts.Identity) bool {
	if !g.known || id.Device != g.device || !strings.HasPrefix(id.Root, g.root) {
		return false
	}
	rest, ok := facts.Below(id.Root, g.root)
	if ok && g.under != "" {
		rest, ok = belowRelative(rest, g.under)
	}
	return ok && g.rest.match(rest)
}

// belowRelative is facts.Below for relative paths.
func belowRelative(p, parent string) (string, bool) {
	rest, ok := strings.CutPrefix(p, parent)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return strings.TrimPrefix(rest, "/"), true
}

func (g *boundGlob) below(p, prefix string) bool {
	if !strings.HasPrefix(p, prefix) { // nearly always, and cheaper than what follows
		return false
	}
	rest, ok := facts.Below(p, prefix)
	return ok && g.rest.match(rest)
}
