package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/volumes"
)

// VolumesTree prints one tree a superblock, from its logical volume to the
// containers; what is on none comes last, with the reason.
func VolumesTree(w io.Writer, v Volumes) error {
	none := &branch{text: "no logical volume"}
	for _, s := range superblocks(v) {
		if !s.onLV() {
			s.tree(none.add(s.head()))
			continue
		}
		top := &branch{text: s.head()}
		s.tree(top)
		if err := top.write(w); err != nil {
			return err
		}
	}
	if len(none.sub) > 0 {
		if err := none.write(w); err != nil {
			return err
		}
	}
	for _, o := range omitted(v) {
		if _, err := fmt.Fprintf(w, "... and %s  %s\n", o.text, o.task.name()); err != nil {
			return err
		}
	}
	return markLines(w, v.Marks)
}

// omission says what of a container is not shown.
type omission struct {
	task Task
	text string
}

func omitted(v Volumes) []omission {
	var all []omission
	for _, t := range v.Tasks {
		for _, m := range t.Mounts {
			if m.Submounts != nil && m.Submounts.Count > len(m.Submounts.First) {
				n := m.Submounts.Count - len(m.Submounts.First)
				all = append(all, omission{t, words.Count(n, "more mount") + " below " + Word(m.Destination)})
			}
		}
		if t.RawOmitted > 0 {
			all = append(all, omission{t, words.Count(t.RawOmitted, "more block device")})
		}
	}
	return all
}

// head names the superblock, by its logical volume if there is one.
func (s *superblock) head() string {
	words := []string{storageLV(&s.Storage)}
	if !s.onLV() {
		words = []string{Word(s.label())}
	}
	if !s.Device.IsZero() && words[0] != s.Device.String() {
		words = append(words, s.Device.String())
	}
	if s.FSType != "" && words[0] != Word(s.FSType) {
		words = append(words, Word(s.FSType))
	}
	if s.NoLV != "" {
		words = append(words, "("+Line(s.NoLV)+")")
	}
	return strings.Join(words, "  ")
}

// label is what a superblock without a volume is called: its device, else its
// type.
func (s *superblock) label() string {
	switch {
	case s.Tops == 1 && len(s.Layers) > 0 && s.Layers[0].Label() != "":
		return s.Layers[0].Label()
	case s.FSType != "":
		return s.FSType
	case !s.Device.IsZero():
		return s.Device.String()
	default:
		return "?"
	}
}

func (s *superblock) tree(top *branch) {
	s.stored(top)
	for _, p := range s.places {
		text := Word(p.path)
		if p.role != "" {
			text += "  " + Word(p.role)
		}
		at := top
		if p.upper != "" {
			at = at.add("upperdir " + Word(p.upper))
		}
		on := at.add(text + "  " + hostState(p.state))
		for _, u := range p.uses {
			on.add(u.String())
		}
	}
	for _, u := range s.uses {
		u.way(top).add(u.String())
	}
}

// way hangs what is between a superblock and what a container has of it on a
// branch.
func (u use) way(at *branch) *branch {
	if u.placeless() && u.mount.Upper != "" {
		return at.add("upperdir " + Word(u.mount.Upper))
	}
	r := u.rootfs
	if r == nil || r.Path == "" {
		return at
	}
	if r.Upper != "" {
		at = at.add("upperdir " + Word(r.Upper) + "  workdir " + Word(r.Work))
	}
	return at.add("rootfs " + Word(r.Path) + "  " + Word(r.FSType) + lowers(r))
}

func hostState(s *facts.MountState) string {
	if s == nil {
		return "host: cannot tell"
	}
	return "host: " + Seen(s)
}

// lowers says on how many read-only layers a root filesystem is, and which
// devices those are on.
func lowers(r *volumes.Rootfs) string {
	if len(r.Lower) == 0 {
		return ""
	}
	var on []string
	seen := map[facts.DeviceNumber]bool{}
	for _, l := range r.Lower {
		if !seen[l.Device] {
			seen[l.Device] = true
			on = append(on, strings.Replace(number(l.Device), "-", "?", 1))
		}
	}
	return fmt.Sprintf("  over %s on %s", words.Count(len(r.Lower), "lowerdir"), strings.Join(on, ", "))
}

// String is the end of a way: what of which container.
func (u use) String() string {
	switch {
	case u.rootfs != nil:
		return "/" + readOnly(u.rootfs.ReadOnly) + "  " + u.task.name()
	case u.raw != nil:
		return Word(u.raw.Path) + "  block device  " + u.task.name()
	case u.submount != nil:
		return Word(u.submount.Destination) + "  below " + Word(u.mount.Destination) + ", seen " + Seen(&u.submount.Seen) + "  " + u.task.name()
	default:
		text := Word(u.mount.Destination) + "  " + flow(u.mount) + readOnly(u.mount.ReadOnly) + "  " + u.task.name()
		if u.placeless() {
			text += "  (source " + Word(u.mount.Source) + ": " + Line(u.mount.Why) + ")"
		}
		return text
	}
}

// placeless reports a mount that is drawn without a place on the host.
func (u use) placeless() bool { return u.mount != nil && u.submount == nil && unplaced(u.mount) }

// unplaced reports that the host has something else at the source of a mount
// now, or that this cannot be told.
func unplaced(m *volumes.Mount) bool { return m.Host == nil && m.Why != "" }

func readOnly(yes bool) string {
	if yes {
		return "  read-only"
	}
	return ""
}

// flow says what goes between the host and a container's mount: what was
// decided, and what the kernel has where that is not told by the same words.
func flow(m *volumes.Mount) string {
	decided := m.Decided
	if decided == facts.Unset {
		decided = m.Asked
	}
	seen := m.Seen
	fits := false
	switch {
	case seen == nil:
		return asked(decided) + ", not seen"
	case decided == facts.Shared:
		fits = seen.Peer != 0
	case decided == facts.Slave:
		fits = seen.Master != 0
	case decided == facts.Private:
		fits = seen.Peer == 0 && seen.Master == 0
	}
	if fits {
		return asked(decided)
	}
	return asked(decided) + ", seen " + Seen(seen)
}
