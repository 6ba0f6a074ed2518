package show

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/mountward/mountward/pkg/exposure"
	"github.com/mountward/mountward/pkg/facts"
)

// ExposureTable prints one line a path by which something is reached, and one
// for each container that needs none.
func ExposureTable(w io.Writer, e Exposure) error {
	if len(e.Viewers) == 0 && len(e.Powers) == 0 {
		return nil
	}
	columns := []string{"NAMESPACE", "POD", "CONTAINER", "OWN", "TARGET", "RO/RW", "UID", "PRIV", "PID", "ID", "THROUGH"}
	several := len(e.Targets) > 1
	if several {
		columns = append([]string{"OF"}, columns...)
	}
	t := newTable(w, columns...)
	row := func(of string, cells ...string) {
		if several {
			cells = append([]string{of}, cells...)
		}
		t.row(cells...)
	}
	for _, v := range e.Viewers {
		namespace, pod, container := whose(v.Who)
		for _, p := range v.Paths {
			row(Word(p.Target), namespace, pod, container, yesNo(p.Own), reachedAt(p), readWrite(p), users(v.Who), yesNo(v.Privileged), pid(v.Who), mountID(p.MountID), through(p.Through, p.Twin))
		}
		if v.Omitted > 0 {
			row("-", namespace, pod, container, "-", fmt.Sprintf("(%d more)", v.Omitted), "-", users(v.Who), yesNo(v.Privileged), pid(v.Who), "-", "-")
		}
	}
	for _, p := range e.Powers {
		namespace, pod, container := whose(p.Who)
		what := "(everything)"
		if !p.Everything {
			what = "(by /proc)"
		}
		row("-", namespace, pod, container, "-", what, "-", users(p.Who), yesNo(p.Privileged), pid(p.Who), "-", Line(strings.Join(p.Why, "; ")))
	}
	return t.flush()
}

// WritersTable prints one line a mount that is shared with the host.
func WritersTable(w io.Writer, r Writers) error {
	if len(r.Writers) == 0 {
		return nil
	}
	t := newTable(w, "NAMESPACE", "POD", "CONTAINER", "CAN", "TARGET", "ONTO", "UID", "PRIV", "PID", "ID", "WHY")
	for _, v := range r.Writers {
		namespace, pod, container := whose(v.Who)
		for _, m := range v.Mounts {
			t.row(namespace, pod, container, yesNo(both(v.Can, m.Shared)), Word(m.Path), onto(m), users(v.Who), yesNo(v.Privileged), pid(v.Who), mountID(m.MountID), Line(both(v.Can, m.Shared).Why))
		}
		if len(v.Mounts) == 0 {
			t.row(namespace, pod, container, yesNo(v.Can), "(everything)", "/", users(v.Who), yesNo(v.Privileged), pid(v.Who), "-", Line(v.Note))
		}
		if v.Omitted > 0 {
			t.row(namespace, pod, container, yesNo(v.Can), fmt.Sprintf("(%d more)", v.Omitted), "-", users(v.Who), yesNo(v.Privileged), pid(v.Who), "-", "-")
		}
	}
	return t.flush()
}

// both is yes where both are, and no where one is.
func both(can, shared facts.Answer) facts.Answer {
	if can.Truth == facts.No || shared.Truth == facts.Yes {
		return can
	}
	return shared
}

func onto(m exposure.Onto) string {
	var all []string
	for _, p := range m.HostPaths {
		all = append(all, Word(p))
	}
	return strings.Join(all, ",")
}

// whose names a container as Task.where does, and what is none in brackets.
func whose(w exposure.Who) (namespace, pod, container string) {
	switch w.Kind {
	case exposure.KindHost:
		return "-", "-", "(host)"
	case exposure.KindService:
		return "-", "-", "(" + Word(w.Unit) + ")"
	case exposure.KindProcess:
		return "-", "-", "(process " + Word(w.Comm) + ")"
	case exposure.KindHeld:
		return "-", "-", "(nobody: " + Line(strings.Join(w.Holders, ", ")) + ")"
	}
	switch {
	case w.Sandbox:
		container = "(pause)"
	case w.Container != "":
		container = Word(w.Container)
	default:
		container = Word(shortID(w.ContainerID))
	}
	pod = w.Pod
	if pod == "" {
		pod = w.PodUID // of one whose specification was not found
	}
	return Word(w.Namespace), Word(pod), container
}

// reachedAt is the path, with the part that is there as findmnt writes it.
func reachedAt(p exposure.Path) string {
	s := Word(p.Path)
	if p.Part != "" {
		s += "[/" + Word(p.Part) + "]"
	}
	if p.Deleted {
		s += " (deleted)"
	}
	return s
}

// through says which mount brought it.
func through(t exposure.Through, twin bool) string {
	switch t.Kind {
	case exposure.ThroughDevice:
		return "raw device"
	case exposure.ThroughOpenDirectory:
		return "open directory"
	case exposure.ThroughOpenFile:
		return "open file"
	}
	words := []string{t.Kind}
	switch t.Copy {
	case "", exposure.CopyAsked:
	case exposure.CopyForeign:
		words = append(words, "slave of another than the host's")
	case exposure.CopyShared:
		words = append(words, "shared with the host")
	default:
		words = append(words, t.Copy+" copy")
	}
	if twin {
		words = append(words, "twin view")
	}
	if t.Source == "" {
		return Word(t.Kind) + bracketed(words[1:])
	}
	return Word(t.Source) + bracketed(words)
}

func bracketed(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return " (" + Line(strings.Join(words, ", ")) + ")"
}

func yesNo(a facts.Answer) string {
	if a.Truth == facts.Unknown {
		return "?"
	}
	return a.Truth.String()
}

// readWrite marks what is read-only with a star where it can be remounted from
// inside, and with a question mark where that cannot be told.
func readWrite(p exposure.Path) string {
	switch {
	case p.Writable.Truth == facts.Yes:
		return "rw"
	case p.Writable.Truth == facts.Unknown:
		return "?"
	case p.Remount != nil && p.Remount.Truth == facts.Yes:
		return "ro*"
	case p.Remount != nil && p.Remount.Truth == facts.Unknown:
		return "ro?"
	default:
		return "ro"
	}
}

// maxUsers bounds the users in a cell.
const maxUsers = 4

// users are the effective user ids on the node and, where they are others, those
// in the user namespace: "100000(0)".
func users(w exposure.Who) string {
	var all []string
	for _, u := range w.Users {
		s := strconv.FormatUint(uint64(u.UID), 10)
		switch {
		case u.Inside == nil:
			s += "(?)"
		case *u.Inside != u.UID:
			s += fmt.Sprintf("(%d)", *u.Inside)
		}
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	if more := len(all) - maxUsers; more > 0 {
		all = append(all[:maxUsers], fmt.Sprintf("+%d", more))
	}
	if w.UsersWhy != "" {
		all = append(all, "?")
	}
	if len(all) == 0 {
		return "-"
	}
	return strings.Join(all, ",")
}

func pid(w exposure.Who) string {
	if len(w.PIDs) == 0 {
		return "-"
	}
	return strconv.Itoa(w.PIDs[0])
}

func mountID(id int) string {
	if id == 0 {
		return "-"
	}
	return strconv.Itoa(id)
}
