package show

import (
	"strings"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/volumes"
)

// CannotTell begins the reasons of volumes.Backing that are no answer.
const CannotTell = "cannot tell: "

// Seen is the propagation of a mount in the words of findmnt.
func Seen(s *facts.MountState) string {
	if s == nil {
		return "?"
	}
	word := "private"
	switch {
	case s.Unbindable:
		return "unbindable"
	case s.Peer != 0:
		word = "shared"
	}
	if s.Master != 0 {
		word += ",slave"
	}
	return word
}

// asked is a propagation in the words of both worlds: "rslave
// (HostToContainer)".
func asked(p facts.Propagation) string {
	word := option(p)
	if k := p.Kubernetes(); k != "" {
		word += " (" + k + ")"
	}
	return word
}

// option is the word of a mount option, "unset" for none.
func option(p facts.Propagation) string {
	if o := p.Option(); o != "" {
		return o
	}
	return p.String()
}

// lv names the logical volumes of a backing, or says in short why there is
// none: "(in memory)", "? (no answer)".
func lv(b volumes.Backing) string {
	switch why, unknown := strings.CutPrefix(b.NoLV, CannotTell); {
	case len(b.LVs) > 1:
		return Word(strings.Join(b.LVs, ","))
	case b.LV != "":
		return Word(b.LV)
	case unknown:
		return "? (" + short(Line(why), shortReason) + ")"
	case why == "":
		return "-"
	default:
		return "(" + short(Line(reason(why)), shortReason) + ")"
	}
}

// shortReason is how much of a reason a column has room for, in characters.
const shortReason = 24

// reason leaves out of a reason what stands in other columns: the type of the
// file system, and that there is no volume.
func reason(why string) string {
	if rest, ok := strings.CutPrefix(why, "no logical volume: "); ok {
		return "no LV: " + rest
	}
	if fsType, rest, ok := strings.Cut(why, ": "); ok && !strings.Contains(fsType, " ") {
		return rest
	}
	return why
}

// number is a device number, "-" where there is none.
func number(d facts.DeviceNumber) string {
	if d.IsZero() {
		return "-"
	}
	return d.String()
}

// source is what a person knows a mount by: the volume, else the path.
func source(m volumes.Mount) string {
	if m.Volume == "" {
		return Word(m.Source)
	}
	s := Word(m.Kind) + ":" + Word(m.Volume)
	if m.SubPath {
		s += " (sub-path)"
	}
	return s
}

// where names a container: its namespace and pod, and its name. One without a
// pod is named by its id and containerd's namespace.
func (t Task) where() (namespace, pod, container string) {
	c := t.Container
	switch {
	case c.Pod.Name == "":
		return "-", "-", Word(t.Namespace + "/" + shortID(c.ID))
	case t.Sandbox:
		container = "(pause)"
	case c.Name != "":
		container = Word(c.Name)
	default:
		container = Word(shortID(c.ID))
	}
	return Word(c.Pod.Namespace), Word(c.Pod.Name), container
}

// name is where in a sentence: "container app of pod prod/web-0".
func (t Task) name() string {
	namespace, pod, container := t.where()
	if t.Container.Pod.Name == "" {
		return "container " + container
	}
	return "container " + container + " of pod " + namespace + "/" + pod
}

// shortID cuts an id to the characters that the journal has as CONTAINER_ID.
func shortID(id string) string { return id[:min(len(id), 12)] }

// layer names a device of a chain, and its kind. A part of a logical volume has
// its own name, which lvs shows in brackets.
func layer(l device.Layer) (name, kind string) {
	name = Word(l.Label())
	if l.LV != nil && l.Kind == device.LV {
		name = Word(l.LV.String())
	}
	switch {
	case l.Kind == "":
		return name, "?"
	case l.Kind == device.LVLayer && l.Part != "":
		return name, "lv " + Word(l.Part)
	default:
		return name, Word(string(l.Kind))
	}
}

// disks names the devices that nothing is below of.
func disks(s *volumes.Storage) string {
	if s == nil {
		return "-"
	}
	var names []string
	for _, l := range s.Physical() {
		names = append(names, Word(l.Label()))
	}
	if len(s.Unknowns()) > 0 {
		names = append(names, "?")
	}
	if len(names) == 0 {
		return "-"
	}
	return strings.Join(names, ",")
}
