package show

import (
	"cmp"
	"fmt"
	"io"

	"github.com/mountward/mountward/pkg/volumes"
)

// VolumesTable prints one line a mount, and below it the marks.
func VolumesTable(w io.Writer, v Volumes) error {
	if len(v.Targets) > 0 {
		if err := targetsTable(w, v.Targets); err != nil {
			return err
		}
	}
	if len(v.Tasks) > 0 {
		if len(v.Targets) > 0 {
			fmt.Fprintln(w)
		}
		if err := tasksTable(w, v.Tasks); err != nil {
			return err
		}
	}
	return markLines(w, v.Marks)
}

func targetsTable(w io.Writer, targets []Target) error {
	t := newTable(w, "TARGET", "MOUNTPOINT", "FSTYPE", "MAJ:MIN", "LV", "PROPAGATION", "DISKS")
	for _, target := range targets {
		point, propagation := "-", "-"
		if m := target.Mount; m != nil {
			point, propagation = Word(m.MountPoint), Seen(&m.State)
		}
		if target.Storage == nil {
			t.row(Word(target.Target), point, "-", "-", "? ("+short(Line(target.Why), shortReason)+")", propagation, "-")
			continue
		}
		s, fsType := target.Storage, target.Storage.FSType
		if target.Mount != nil {
			fsType = target.Mount.FSType
		}
		t.row(Word(target.Target), point, Word(fsType), number(s.Device), storageLV(s), propagation, disks(s))
	}
	return t.flush()
}

// storageLV is lv of a whole chain.
func storageLV(s *volumes.Storage) string {
	b := volumes.Backing{NoLV: s.NoLV}
	for _, v := range s.LVs() {
		b.LV = cmp.Or(b.LV, v.String())
		b.LVs = append(b.LVs, v.String())
	}
	return lv(b)
}

func tasksTable(w io.Writer, tasks []Task) error {
	t := newTable(w, "NAMESPACE", "POD", "CONTAINER", "TARGET", "FSTYPE", "MAJ:MIN", "LV", "PROPAGATION", "SOURCE")
	for _, task := range tasks {
		namespace, pod, container := task.where()
		row := func(target, fsType string, b volumes.Backing, propagation, source string) {
			t.row(namespace, pod, container, target, fsType, number(b.Device), lv(b), propagation, source)
		}
		if task.hasRootfs() {
			row("/", Word(task.Rootfs.FSType), task.Rootfs.Backing, "-", Word(task.Rootfs.Upper))
		}
		for _, m := range task.Mounts {
			row(Word(m.Destination), Word(m.FSType), m.Backing, Seen(m.Seen), source(m))
			submountRows(m, row)
		}
		for _, r := range task.Raw {
			row(Word(r.Path), "-", r.Backing, "-", rawSource(r))
		}
		if n := task.RawOmitted; n > 0 {
			row(fmt.Sprintf("... and %d more", n), "-", volumes.Backing{}, "-", "block devices")
		}
	}
	return t.flush()
}

// submountRows are the mounts that lie on a mount.
func submountRows(m volumes.Mount, row func(target, fsType string, b volumes.Backing, propagation, source string)) {
	if m.Submounts == nil {
		return
	}
	below := "below " + Word(m.Destination)
	for _, s := range m.Submounts.First {
		row(Word(s.Destination), Word(s.FSType), s.Backing, Seen(&s.Seen), below)
	}
	if n := m.Submounts.Count - len(m.Submounts.First); n > 0 {
		row(fmt.Sprintf("... and %d more", n), "-", volumes.Backing{}, "-", below)
	}
}

func rawSource(r volumes.Raw) string {
	if r.Volume == "" {
		return "block device"
	}
	return Word(cmp.Or(r.Kind, "raw")) + ":" + Word(r.Volume) + " (block)"
}

// hasRootfs reports whether anything is told of the root filesystem: what was
// selected need not be on it.
func (t Task) hasRootfs() bool {
	r := t.Rootfs
	return r.FSType != "" || r.NoLV != "" || !r.Device.IsZero()
}

// markLines prints each mark on a line of its own.
func markLines(w io.Writer, marks []volumes.Mark) error {
	for _, m := range marks {
		where := ""
		if !m.Device.IsZero() {
			where = " [" + m.Device.String() + " " + lv(m.Backing) + "]"
		}
		if _, err := fmt.Fprintf(w, "mark: %s %s%s: %s\n", Word(m.Code), Word(m.Path), where, Line(m.Why)); err != nil {
			return err
		}
	}
	return nil
}
