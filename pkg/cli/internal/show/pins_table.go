package show

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/pins"
)

// PinsTable prints for each target what is known of it, one line a holder, and
// below these why each holds it, its evidence and its cures.
func PinsTable(w io.Writer, p Pins) error {
	for _, g := range p.Groups {
		fmt.Fprintln(w, Line(g.String()))
	}
	for i := range p.Reports {
		if i > 0 || len(p.Groups) > 0 {
			fmt.Fprintln(w)
		}
		if err := pinsOf(w, &p.Reports[i]); err != nil {
			return err
		}
	}
	if len(p.Reports) == 0 {
		fmt.Fprintln(w, "no logical volume is held by anything but its users")
	}
	return nil
}

func pinsOf(w io.Writer, r *pins.Report) error {
	fmt.Fprintf(w, "%s %s%s: file system alive: %s", Word(r.Target.Kind), Word(r.Target.Name), pinsDevices(r), r.Alive.Truth)
	if r.Alive.Why != "" {
		fmt.Fprintf(w, " (%s)", Line(r.Alive.Why))
	}
	if r.Open != nil {
		fmt.Fprintf(w, "; open %d times, %d explained", r.Open.Count, r.Open.Explained)
	}
	fmt.Fprintln(w)
	for _, note := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", Line(note))
	}
	if len(r.Holders) == 0 {
		fmt.Fprintln(w, "nothing was found that holds it")
	} else if err := holdersTable(w, r); err != nil {
		return err
	}
	for i := range r.Holders {
		pinsHolder(w, i+1, &r.Holders[i])
	}
	for _, s := range r.Suspects {
		fmt.Fprintf(w, "suspect: %s\n", Line(s))
	}
	if len(r.Holders) == 0 {
		for _, s := range r.Searched {
			fmt.Fprintf(w, "searched: %s\n", Line(s))
		}
	}
	return nil
}

// pinsDevices is what a target's name does not tell: its device and type.
func pinsDevices(r *pins.Report) string {
	var words []string
	for _, s := range r.Target.Superblocks {
		if s.Foreign || s.Below {
			continue
		}
		word := number(s.Device)
		if s.FSType != "" {
			word += " " + Word(s.FSType)
		}
		if s.LV != "" && s.LV != r.Target.Name {
			word += " " + Word(s.LV)
		}
		if !s.Whole() {
			word += " " + Word(s.Root)
		}
		words = append(words, word)
	}
	if more := len(words) - 4; more > 0 {
		words = append(words[:4], fmt.Sprintf("%d more", more))
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

func holdersTable(w io.Writer, r *pins.Report) error {
	t := newTable(w, "#", "KIND", "USE", "WHERE", "NS", "PID", "COMMAND", "NAMESPACE", "POD", "CONTAINER", "UNIT", "PROPAGATION", "TARGET")
	for i := range r.Holders {
		h := &r.Holders[i]
		pid, command := "-", "-"
		if len(h.Processes) > 0 {
			pid, command = strconv.Itoa(h.Processes[0].PID), Word(h.Processes[0].Comm)
		}
		container := Word(h.Owner.Container)
		if h.Owner.Container == "" {
			container = Word(shortID(h.Owner.ContainerID))
		}
		namespace := "-"
		if h.Namespace != 0 {
			namespace = strconv.FormatUint(h.Namespace, 10)
		}
		t.row(strconv.Itoa(i+1), Word(string(h.Kind)), pinsUse(h), Word(h.Where), namespace, pid, command,
			Word(h.Owner.Namespace), Word(cmp.Or(h.Owner.Pod, h.Owner.PodUID)), container, Word(h.Owner.Unit), pinsPropagation(h), pinsTarget(h))
	}
	if err := t.flush(); err != nil || r.Omitted == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "... and %d more\n", r.Omitted)
	return err
}

// pinsUse says whether a holder is the volume's user or a culprit.
func pinsUse(h *pins.Holder) string {
	switch {
	case h.User:
		return "user"
	case h.Use == pins.UseCopy, h.Use == "":
		return "pin"
	default:
		return Word(h.Use)
	}
}

func pinsPropagation(h *pins.Holder) string {
	if len(h.Mounts) == 0 || h.Kind != pins.KindMount {
		return "-"
	}
	return Seen(&facts.MountState{Peer: h.Mounts[0].State.Peer, Master: h.Mounts[0].State.Master, Unbindable: h.Mounts[0].State.Unbindable})
}

// pinsTarget is where a holder has it.
func pinsTarget(h *pins.Holder) string {
	var where string
	more := 0
	switch {
	case len(h.Mounts) > 0:
		where, more = h.Mounts[0].MountPoint, len(h.Mounts)-1+h.MountsOmitted
	case len(h.Files) > 0:
		where, more = h.Files[0].Path, len(h.Files)-1+h.FilesOmitted
	default:
		where = cmp.Or(h.Device, h.Path)
	}
	if more > 0 {
		return fmt.Sprintf("%s and %d more", Word(where), more)
	}
	return Word(where)
}

func pinsHolder(w io.Writer, i int, h *pins.Holder) {
	fmt.Fprintf(w, "%d: %s: %s\n", i, Line(h.Name()), Line(h.Why))
	if len(h.Processes) > 0 && !h.Processes[0].Started.IsZero() {
		fmt.Fprintf(w, "   since: %s\n", h.Processes[0].Started.UTC().Format("2006-01-02 15:04:05 MST"))
	}
	for _, e := range h.Evidence {
		fmt.Fprintf(w, "   evidence: %s", Line(e.Text))
		if e.Show != "" {
			fmt.Fprintf(w, "  [%s]", Line(e.Show))
		}
		fmt.Fprintln(w)
	}
	for _, c := range h.Cures {
		fmt.Fprintf(w, "   cure: %s; cost: %s\n", Line(c.What), Line(c.Cost))
		for _, command := range c.Commands {
			fmt.Fprintf(w, "     %s\n", Line(command))
		}
	}
}
