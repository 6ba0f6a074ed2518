//go:build linux

package adapt

import (
	"slices"
	"strings"

	rspec "github.com/opencontainers/runtime-spec/specs-go"
)

// underlying changes a spec for NRI's generator. Containerd's own is internal
// to it; this one does the same, first match and order of mounts included.
type underlying struct {
	spec *rspec.Spec
}

func (u *underlying) Spec() *rspec.Spec { return u.spec }

func (u *underlying) Mounts() []rspec.Mount { return u.spec.Mounts }
func (u *underlying) AddMount(m rspec.Mount) {
	u.spec.Mounts = append(u.spec.Mounts, m)
}
func (u *underlying) ClearMounts() { u.spec.Mounts = []rspec.Mount{} }

// RemoveMount removes the first mount on a path: an overmounted one is left.
func (u *underlying) RemoveMount(destination string) {
	u.spec.Mounts = deleteFirst(u.spec.Mounts, func(m rspec.Mount) bool { return m.Destination == destination })
}

func (u *underlying) AddAnnotation(key, value string) {
	put(&u.spec.Annotations, key, value)
}
func (u *underlying) RemoveAnnotation(key string) { delete(u.spec.Annotations, key) }

func (u *underlying) process() *rspec.Process { return made(&u.spec.Process) }

func (u *underlying) SetProcessArgs(args []string)  { u.process().Args = args }
func (u *underlying) SetProcessOOMScoreAdj(adj int) { u.process().OOMScoreAdj = &adj }
func (u *underlying) ClearProcessEnv()              { u.process().Env = []string{} }
func (u *underlying) AddProcessEnv(name, val string) {
	if name == "" {
		return
	}
	p, entry := u.process(), name+"="+val
	i := slices.IndexFunc(p.Env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
	if i < 0 {
		p.Env = append(p.Env, entry)
		return
	}
	p.Env[i] = entry
}

func (u *underlying) hooks() *rspec.Hooks { return made(&u.spec.Hooks) }

func (u *underlying) AddPreStartHook(h rspec.Hook) {
	u.hooks().Prestart = append(u.hooks().Prestart, h) //nolint:staticcheck // plugins may still use it
}

func (u *underlying) AddPostStartHook(h rspec.Hook) {
	u.hooks().Poststart = append(u.hooks().Poststart, h)
}

func (u *underlying) AddPostStopHook(h rspec.Hook) {
	u.hooks().Poststop = append(u.hooks().Poststop, h)
}

// made is what a pointer points to, after making it where there is nothing.
func made[T any](p **T) *T {
	if *p == nil {
		*p = new(T)
	}
	return *p
}

func put[K comparable, V any](m *map[K]V, key K, value V) {
	if *m == nil {
		*m = make(map[K]V)
	}
	(*m)[key] = value
}

func deleteFirst[T any](s []T, match func(T) bool) []T {
	if i := slices.IndexFunc(s, match); i >= 0 {
		return slices.Delete(s, i, i+1)
	}
	return s
}
