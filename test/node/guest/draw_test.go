//go:build linux

package guest

import (
	"slices"
	"strings"
)

// label is what the test calls a device: its own name for it, the one of the
// device mapper, or the kernel's.
func (s *stack) label(l *layer) string {
	for _, name := range []string{s.labels[l.Name], l.DMName, l.Name} {
		if name != "" {
			return name
		}
	}
	return l.Device
}

// draw writes a line for each device: "* " for those of the file system itself,
// label, kind, volume and part, what it lies on, and what cannot be told. The
// lines are sorted: device numbers differ from run to run.
func (s *stack) draw(st storage) []string {
	var all []string
	for i, l := range st.Layers {
		words := []string{s.label(&l), l.Kind}
		if i < st.Tops {
			words = slices.Insert(words, 0, "*")
		}
		if l.LV != nil {
			words = append(words, l.LV.String())
		}
		if l.Part != "" {
			words = append(words, "["+l.Part+"]")
		}
		if len(l.Lower) > 0 {
			words = append(words, ">", s.named(st, l.Lower))
		}
		if l.Kind != "loop" && l.Note != "" { // a loop's is its file
			words = append(words, "#", l.Note)
		}
		if l.Unknown != "" {
			words = append(words, "?", l.Unknown)
		}
		all = append(all, strings.Join(words, " "))
	}
	slices.Sort(all)
	return all
}

// named is the labels of devices of a chain, sorted.
func (s *stack) named(st storage, numbers []string) string {
	var labels []string
	for _, n := range numbers {
		name := n
		if l := st.layer(n); l != nil {
			name = s.label(l)
		}
		labels = append(labels, name)
	}
	slices.Sort(labels)
	return strings.Join(labels, " ")
}

// topVolumes is the volume that is met first on each way down.
func topVolumes(st storage) []string {
	var all []string
	var down func(numbers []string)
	down = func(numbers []string) {
		for _, n := range numbers {
			l := st.layer(n)
			switch {
			case l == nil:
			case l.Kind != "lv":
				down(l.Lower)
			case !slices.Contains(all, l.LV.String()):
				all = append(all, l.LV.String())
			}
		}
	}
	for _, l := range st.Layers[:st.Tops] {
		down([]string{l.Device})
	}
	slices.Sort(all)
	return all
}
