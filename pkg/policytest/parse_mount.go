package policytest

import (
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

const bind = "bind"

func (p *parser) mount(at []any, raw *rawMount) facts.Mount {
	key := func(name string) []any { return append(slices.Clip(at), name) }
	m := facts.Mount{Source: raw.Source, Destination: raw.Destination, Type: raw.Type, Options: raw.Options}
	if m.Type == "" {
		m.Type = bind
	}
	if m.Type == bind && raw.Source == "" {
		p.fail(key("source"), `"source" is missing: a bind has a path of the host`)
	}
	if !p.document.Has(key("destination")...) {
		source, ok := facts.CleanAbs(raw.Source)
		if !ok && raw.Source != "" || m.Type != bind {
			p.fail(key("destination"), `"destination" is missing: only that of a bind with an absolute source may be left out`)
		}
		m.Destination = source
	}
	m.Volume, m.Storage = p.volume(key("volume"), raw.Volume), p.stored(key("lv"), raw.LV)
	if p.document.Has(key("options")...) || m.Type != bind {
		for _, name := range []string{"propagation", "readonly"} {
			if p.document.Has(key(name)...) {
				p.fail(key(name), "%q is for a bind without \"options\": write it as one of the options", name)
			}
		}
		return m
	}
	m.Options = []string{"rbind"}
	asked := facts.Private
	if p.document.Has(key("propagation")...) {
		asked = p.propagation(key("propagation"), raw.Propagation)
	}
	if asked != facts.Unset {
		m.Options = append(m.Options, asked.Option())
	}
	mode := "rw"
	if raw.ReadOnly {
		mode = "ro"
	}
	m.Options = append(m.Options, mode)
	return m
}

// propagation reads the option of a mount, or "unset" for none.
func (p *parser) propagation(at []any, word string) facts.Propagation {
	known := []facts.Propagation{facts.Private, facts.Slave, facts.Shared, facts.Unbindable}
	if word == facts.Unset.String() {
		return facts.Unset
	}
	for _, is := range known {
		switch {
		case word == is.Option():
			return is
		case strings.EqualFold(word, is.String()), strings.EqualFold(word, is.Option()), strings.EqualFold(word, is.Kubernetes()) && word != "":
			p.fail(at, `"propagation": use %q, not %q`, is.Option(), word)
			return is
		}
	}
	p.fail(at, `"propagation" must be "rprivate", "rslave", "rshared", "runbindable" or "unset", not %q`, word)
	return facts.Unset
}
