package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/strict"
)

// volume reads the table about the volume of a mount.
func (m *matcher) volume(raw *rawVolume) {
	if raw == nil || !m.filled(keyVolume, "volume.kind, volume.name or volume.driver", raw.Kind, raw.Name, raw.Driver) {
		return
	}
	var all []selector
	if m.given(len(raw.Kind), keyVolume, "kind") {
		s := wordSelector{name: keyVolumeKind, value: func(q *query) facts.Word { return q.mount.Volume.Kind }}
		for i, kind := range raw.Kind {
			m.volumeKind(kind, i)
			s.globs = append(s.globs, literal(kind))
		}
		all = append(all, s)
	}
	names := func(key string, globs []string, value func(q *query) facts.Word) {
		if m.given(len(globs), keyVolume, key) {
			all = append(all, wordSelector{"volume." + key, m.nameGlobs(globs, keyVolume, key), value})
		}
	}
	names("driver", raw.Driver, func(q *query) facts.Word { return q.mount.Volume.Driver })
	names("name", raw.Name, func(q *query) facts.Word { return q.mount.Volume.Name })
	m.table(keyVolume, all)
}

// volumeKind checks one word, and helps with those that people use for it.
func (m *matcher) volumeKind(text string, i int) {
	known := facts.VolumeKinds()
	if slices.Contains(known, text) {
		return
	}
	at := m.path(keyVolume, "kind", i)
	for _, kind := range known {
		if strings.EqualFold(text, kind) || facts.VolumeKind(strings.ToLower(text)).Kubernetes() == kind {
			m.fail(at, "unknown kind of volume %q: write %q", text, kind)
			return
		}
	}
	hint := "there are " + strings.Join(known, ", ")
	switch near := strict.Nearest(text, known); {
	case strings.EqualFold(text, "persistentVolumeClaim") || strings.EqualFold(text, "pvc"):
		hint = `write what claims are bound to, such as "csi", "local" or "nfs"`
	case strings.EqualFold(text, "host-path"):
		hint = `write "hostPath"`
	case near != "":
		hint = fmt.Sprintf("did you mean %q? (%s)", near, hint)
	}
	m.fail(at, "unknown kind of volume %q: %s", text, hint)
}

// host reads the table about what the source's mount is on the host.
func (m *matcher) host(raw *rawHost) {
	if raw == nil || !m.filled(keyHost, "host.propagation", raw.Propagation) {
		return
	}
	if m.given(len(raw.Propagation), keyHost, "propagation") {
		m.table(keyHost, []selector{hostSelector(m.kinds(raw.Propagation, false, keyHost, "propagation"))})
	}
}

// lvm reads the table about logical volumes. Both keys are about one volume.
func (m *matcher) lvm(raw *rawLVM) {
	if raw == nil || !m.filled(keyLVM, "lvm.vg or lvm.lv", raw.VG, raw.LV) {
		return
	}
	var s lvmSelector
	if m.given(len(raw.VG), keyLVM, "vg") {
		s.vg = m.nameGlobs(raw.VG, keyLVM, "vg")
	}
	if m.given(len(raw.LV), keyLVM, "lv") {
		s.lv = m.nameGlobs(raw.LV, keyLVM, "lv")
	}
	m.add(s)
}

// filled refuses a table without any key.
func (m *matcher) filled(key, keys string, lists ...[]string) bool {
	for _, list := range lists {
		if list != nil {
			return true
		}
	}
	m.fail(m.path(key), "%q is empty: write %s, or leave it out", key, keys)
	return false
}

// dotted writes the steps to a key as a policy does.
func dotted(steps []any) string {
	words := make([]string, len(steps))
	for i, step := range steps {
		words[i] = fmt.Sprint(step)
	}
	return strings.Join(words, ".")
}
