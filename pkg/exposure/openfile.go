package exposure

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

// reached notes a file of a process for each target that is reached by it and by
// no mount that is listed already.
func (f *finder) reached(ctx context.Context, s *sight, who int, p namespaces.Process, file openFile, unknown *unread) {
	w, paths := s.whos[who], &s.paths[who]
	e, known := f.mounts[file.MountID]
	node := f.ofNode(s, file.Stat)
	visible := func() bool { return s.visible(ctx, f, file) }
	for i := range f.wanted {
		want := &f.wanted[i]
		if paths.shown[shown{want.name, file.MountID}] {
			continue
		}
		if node && len(want.places) > 0 {
			if paths.room(fmt.Sprintf("node %s\x00%s", want.name, want.below)) {
				paths.list = append(paths.list, f.byNode(p, want, w, file))
			}
			continue
		}
		for _, what := range want.what {
			part, answer := file.shows(what, e, known, visible)
			if answer.Truth == facts.Unknown {
				unknown.all = append(unknown.all, namespaces.Unknown{
					What: fmt.Sprintf("whether process %d (%s) reaches %s", id(p), p.Comm, want.name), Why: answer.Why,
				})
			}
			if answer.Truth != facts.Yes || !paths.room(fmt.Sprintf("open %d %s\x00%s\x00%s", file.MountID, want.name, file.text, part)) {
				continue
			}
			entry := file.entry(p, want, w, answer.Why)
			entry.Part = want.at(part)
			if known {
				entry.Writable = writable(e)
				entry.Evidence = append(entry.Evidence, Evidence{Text: e.Line()})
			}
			paths.list = append(paths.list, entry)
		}
		if how, ok := want.devices[file.Block]; ok && !file.Block.IsZero() && !w.given(file.Block) && paths.room(fmt.Sprintf("block %s %s", file.Block, want.name)) {
			entry := file.entry(p, want, w, fmt.Sprintf("%s -> %s (block device %s, %s)", file.link, file.text, file.Block, how))
			entry.Through.Kind, entry.MountID = ThroughDevice, 0
			entry.Writable = facts.CannotTell("how it was opened is not read")
			paths.list = append(paths.list, entry)
		}
	}
}

func (o openFile) entry(p namespaces.Process, want *wanted, w Who, evidence string) Path {
	entry := Path{
		Target: want.name, Path: o.name(), Through: Through{Kind: ThroughOpenFile}, Own: want.ownOpen(w),
		Deleted:  strings.HasSuffix(o.text, deletedFile),
		Writable: facts.CannotTell("it is open, and no table has its mount any more"),
		MountID:  o.MountID, Evidence: []Evidence{{Text: evidence, Show: fmt.Sprintf("ls -l /proc/%d/%s", id(p), o.link)}},
	}
	if o.Directory {
		entry.Through.Kind = ThroughOpenDirectory
	}
	if task, fd, ok := strings.Cut(o.link, "fd/"); ok {
		entry.Evidence[0].Show += fmt.Sprintf("; cat /proc/%d/%sfdinfo/%s", id(p), task, fd)
	}
	return entry
}

// openFile is what one link of a process leads to.
type openFile struct {
	link  string // in /proc/PID: "fd/3", "cwd"
	text  string // where it leads, by the kernel
	btrfs bool   // it is on a btrfs, by a mount that no table has
	Stat
}

// deletedFile ends the link of an open file that was removed.
const deletedFile = " (deleted)"

// name is the path as the kernel tells it: from the root of the mount, where
// that is in no namespace any more.
func (o openFile) name() string { return strings.TrimSuffix(o.text, deletedFile) }

// shows answers whether an open file is what is wanted, or a part of it, and
// which; of a directory, whether it leads there, down or up by "..". e is its
// mount where that is known; of one that is in no table it is not known what
// part of the file system it shows. From a directory that is visible nothing is
// reached but what is, since what is mounted on the way is crossed.
func (o openFile) shows(wanted sought, e hostview.Entry, known bool, visible func() bool) (part string, answer facts.Answer) {
	evidence := fmt.Sprintf("%s -> %s (device %s, mount %d)", o.link, o.text, o.Device, o.MountID)
	unsure := func() facts.Answer {
		return facts.CannotTell(evidence + ": it is on the file system, and where in it is not known")
	}
	switch {
	case !known && o.btrfs && wanted.fsType == "btrfs":
		return "", facts.CannotTell(evidence + ": it is on a btrfs by a mount that no table has, and on which one is not told")
	case known && e.Device != wanted.Device, !known && o.Device != wanted.Device:
		return "", facts.Is(false, evidence)
	case !known:
		evidence += ", which no table has"
		if wanted.Root != "/" {
			return "", unsure()
		}
		if !o.Directory {
			part = strings.TrimPrefix(o.name(), "/")
		}
		return part, facts.Is(true, evidence)
	}
	root := strings.TrimSuffix(e.Root, deletedSuffix)
	if o.Directory { // what its mount shows
		part, ok := facts.Below(root, wanted.Root)
		return part, facts.Is((ok || facts.Within(wanted.Root, root)) && !visible(), evidence)
	}
	rest, ok := facts.Below(o.name(), path.Clean(e.MountPoint))
	switch {
	case ok:
		part, ok = facts.Below(facts.JoinRoot(root, rest), wanted.Root)
		return part, facts.Is(ok, evidence)
	case wanted.Root == "/":
		return "", facts.Is(true, evidence)
	}
	return "", unsure()
}

// ownOpen answers whether what is open is the pod's own.
func (w *wanted) ownOpen(who Who) facts.Answer {
	if evidence, ok := w.owners[who.PodUID]; ok && who.PodUID != "" {
		return facts.Is(true, evidence)
	}
	if who.Node() {
		return facts.Is(false, "it is the node, not the pod")
	}
	return facts.Is(false, "no mount of it leads to it")
}
