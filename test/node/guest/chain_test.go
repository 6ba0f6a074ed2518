//go:build linux

package guest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// kind is one kind of storage: how it is built, and what must be said of each
// of the paths that building returns.
type kind struct {
	name  string
	build func(s *stack) []string
	want  []told
}

// told is what must be said of one path.
type told struct {
	lv string // VG/LV; several separated by spaces; "" for none
	// chain has a line for each device, as draw writes it.
	chain string
	// others is where lvs, lsblk and findmnt say something else, or nothing.
	others string
}

// TestChain: on real devices, mountward tells the whole chain, and the same as
// lvs, lsblk and findmnt where those know. Where they do not, the test says so;
// that is asserted too, so that a change is noticed.
func TestChain(t *testing.T) {
	s := newStack(t)
	s.vg("vg0", s.loop("a", 640), s.loop("b", 640))
	for _, k := range slices.Concat(volumeKinds(), vdoKinds(t), layeredKinds(), fileSystemKinds()) {
		t.Run(k.name, func(t *testing.T) {
			s := s.on(t)
			paths := k.build(s)
			if len(paths) != len(k.want) {
				t.Fatalf("%d paths were built, and %d are told of", len(paths), len(k.want))
			}
			for i, path := range paths {
				s.check(path, k.want[i])
			}
		})
	}
}

func (s *stack) check(path string, want told) {
	s.Helper()
	got := targetOf(s.T, "--path", path)
	if got.Why != "" || got.Storage.Unknown != "" {
		s.Errorf("cannot tell of %s: %s; %s", path, got.Why, got.Storage.Unknown)
	}
	s.equal("chain of "+path, lines(want.chain), s.draw(got.Storage))
	s.equal("volumes of "+path, strings.Fields(want.lv), topVolumes(got.Storage))
	if (want.lv == "") != (got.Storage.NoLV != "") {
		s.Errorf("no_lv = %q where the volumes are %q", got.Storage.NoLV, want.lv)
	}
	s.equal("what others say of "+path, lines(want.others), s.others(got))
	s.sameByDeviceAndName(got)
}

// sameByDeviceAndName asks for the same storage by each of its own devices and
// volumes.
func (s *stack) sameByDeviceAndName(by target) {
	s.Helper()
	for _, l := range by.Storage.Layers[:by.Storage.Tops] {
		if by.Storage.Tops > 1 {
			continue // each device of a file system on several is asked for alone
		}
		questions := [][]string{{"--device", l.Device}}
		if l.Kind == "lv" {
			questions = append(questions, []string{"--lv", l.LV.String()})
		}
		for _, q := range questions {
			s.equal(strings.Join(q, " "), s.draw(by.Storage), s.draw(targetOf(s.T, q...).Storage))
		}
	}
}

// equal compares two lists of lines.
func (s *stack) equal(what string, want, got []string) {
	s.Helper()
	if slices.Equal(want, got) {
		return
	}
	var b strings.Builder
	for _, line := range want {
		if !slices.Contains(got, line) {
			fmt.Fprintf(&b, "\n- %s", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			fmt.Fprintf(&b, "\n+ %s", line)
		}
	}
	s.Errorf("%s (-want +got): %s\nall of it:\n%s", what, b.String(), strings.Join(got, "\n"))
}

// lines is the lines of a text without the white space around them.
func lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}
