package apply

import (
	"errors"
	"slices"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/runtime-tools/generate"
	"github.com/opencontainers/runtime-spec/specs-go"

	"github.com/mountward/mountward/pkg/facts"
)

// Specification is the mounts of a container's specification.
type Specification struct {
	Mounts            []facts.Mount `json:"mounts"` // in the order in which the runtime makes them
	RootfsPropagation string        `json:"rootfs_propagation,omitempty"`
}

// After returns what a runtime makes of a specification when it is given an
// adjustment: NRI's own generator does it, with the first of equal destinations
// replaced, all mounts sorted, and rootfsPropagation raised and never lowered.
//
// The generator looks at the mount table of this process for what is set to
// rslave or rshared. checked is false where that is not the runtime's table: then
// such a mount is taken as one that the host can give.
func After(s Specification, adjust *api.ContainerAdjustment, checked bool) (Specification, error) {
	if len(adjust.GetMounts()) == 0 {
		return s, nil
	}
	u := &underlying{spec: &specs.Spec{Linux: &specs.Linux{RootfsPropagation: s.RootfsPropagation}}}
	for _, m := range s.Mounts {
		u.spec.Mounts = append(u.spec.Mounts, specs.Mount{Destination: m.Destination, Source: m.Source, Type: m.Type, Options: slices.Clone(m.Options)})
	}
	mounts := handed(adjust)
	if !checked {
		for i, m := range mounts {
			mounts[i] = &api.Mount{Destination: m.Destination, Source: m.Source, Type: m.Type, Options: unchecked(m.Options)}
		}
	}
	if err := generate.SpecGenerator(u).AdjustMounts(mounts); err != nil {
		return Specification{}, err
	}
	after := Specification{RootfsPropagation: u.spec.Linux.RootfsPropagation}
	for _, m := range u.spec.Mounts {
		after.Mounts = append(after.Mounts, facts.Mount{Destination: m.Destination, Source: m.Source, Type: m.Type, Options: m.Options})
	}
	if !checked {
		after.raise(adjust)
	}
	return after, nil
}

// handed are the mounts of an adjustment as the generator gets them: NRI itself
// takes the removals out that an addition belongs to. Source: nri v0.12.5
// pkg/adaptation/result.go adjustMounts.
func handed(adjust *api.ContainerAdjustment) []*api.Mount {
	added := map[string]bool{}
	var mounts []*api.Mount
	for _, m := range adjust.GetMounts() {
		if _, removal := m.IsMarkedForRemoval(); !removal {
			added[m.Destination] = true
			mounts = append(mounts, m)
		}
	}
	for _, m := range adjust.GetMounts() {
		if destination, removal := m.IsMarkedForRemoval(); removal && !added[destination] {
			mounts = append(mounts, m)
		}
	}
	return mounts
}

// mark before a word keeps the generator from knowing it.
const mark = "\x00"

func unchecked(options []string) []string {
	options = slices.Clone(options)
	for i, o := range options {
		if _, ok := facts.ParseOption(o); ok {
			options[i] = mark + o
		}
	}
	return options
}

// raise does what the generator does behind its check.
func (s *Specification) raise(adjust *api.ContainerAdjustment) {
	for i := range s.Mounts {
		for j, o := range s.Mounts[i].Options {
			if len(o) > len(mark) && o[:len(mark)] == mark {
				s.Mounts[i].Options[j] = o[len(mark):]
			}
		}
	}
	for _, m := range adjust.GetMounts() {
		asked, raised := facts.Requested(m.GetOptions()), s.RootfsPropagation == facts.Shared.Option()
		if asked == facts.Shared || asked == facts.Slave && !raised {
			s.RootfsPropagation = asked.Option()
		}
	}
}

// underlying is the part of a specification that the generator's AdjustMounts
// changes, as containerd's own changes it. Source: containerd 2.4.2
// internal/cri/nri/spec_generator_linux.go.
type underlying struct {
	generate.UnderlyingGenerator // none: nothing else of it is called
	spec                         *specs.Spec
}

func (u *underlying) Spec() *specs.Spec     { return u.spec }
func (u *underlying) Mounts() []specs.Mount { return u.spec.Mounts }
func (u *underlying) AddMount(m specs.Mount) {
	u.spec.Mounts = append(u.spec.Mounts, m)
}
func (u *underlying) ClearMounts() { u.spec.Mounts = nil }

// RemoveMount removes the first mount at a destination, compared as it is spelled.
func (u *underlying) RemoveMount(destination string) {
	if i := slices.IndexFunc(u.spec.Mounts, func(m specs.Mount) bool { return m.Destination == destination }); i >= 0 {
		u.spec.Mounts = slices.Delete(u.spec.Mounts, i, i+1)
	}
}

func (u *underlying) SetLinuxRootPropagation(p string) error {
	if _, ok := facts.ParseOption(p); !ok {
		return errors.New("set root propagation: not a propagation: " + p)
	}
	u.spec.Linux.RootfsPropagation = p
	return nil
}
