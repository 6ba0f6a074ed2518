package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

// Where journald takes records, and where it keeps them over a reboot.
const (
	journalSocket = "/run/systemd/journal/socket"
	journalDir    = "/var/log/journal"
)

// checkJournal says where records of mountward can go. A machine without a
// journal is sound: they go to a file.
func checkJournal(s *Snapshot) []Finding {
	if s.Files == nil {
		return nil // the snapshot says why
	}
	f := Finding{Code: codeJournal, Subject: journalSocket, Evidence: []Evidence{{Text: journalSocket, Show: "ls -l " + journalSocket}}}
	there := present(s.Context, s.Files, journalSocket)
	switch there.Truth {
	case facts.Yes:
		f.Answer, f.Message = facts.Yes, "the journal takes records"
	case facts.No:
		f.Answer, f.Evidence[0].Text = facts.Yes, there.Why
		f.Message = "there is no journal on this machine: mountward writes its records to a file"
	default:
		f.Evidence, f.Message = nil, "cannot tell whether there is a journal: "+there.Why
	}
	all := []Finding{f}
	if there.Truth != facts.Yes {
		return all
	}
	all = append(all, s.journalInContainers()...)
	keeps := present(s.Context, s.Files, journalDir)
	p := Finding{Code: codeJournalPersistent, Answer: facts.Yes, Subject: journalDir, Evidence: []Evidence{{Text: journalDir, Show: "ls -d " + journalDir}}}
	switch keeps.Truth {
	case facts.Yes:
		p.Message = "the journal keeps its records over a reboot"
	case facts.No:
		p.Evidence[0].Text = keeps.Why
		p.Message = "the journal loses its records at a reboot: there is no " + journalDir
		p.Fixes = []Fix{{What: "to keep them", Commands: []string{"mkdir -p " + journalDir, "systemctl restart systemd-journald"}, Persistent: true}}
	default:
		p.Answer, p.Evidence, p.Message = facts.Unknown, nil, "cannot tell whether the journal keeps its records: "+keeps.Why
	}
	return append(all, p)
}

// journalInContainers looks whether a mountward in a container has the host's
// socket mounted: nothing of its records reaches the journal otherwise.
func (s *Snapshot) journalInContainers() []Finding {
	daemons, _ := s.daemons()
	host, ok := s.Place(RoleInit)
	if !ok || host.Table == nil {
		return nil // the snapshot says why
	}
	want, _ := shows(host.Table, journalSocket)
	var all []Finding
	for _, d := range daemons {
		if d.how != byContainer {
			continue
		}
		f := Finding{Code: codeJournal, Subject: d.String(), Evidence: []Evidence{d.evidence()}}
		t, err := settled(fmt.Sprintf("%s/%d/mountinfo", s.Proc, d.PID))
		if err != nil {
			f.Evidence = nil
			f.Message = "cannot tell whether mountward reaches the journal: " + err.Error()
			all = append(all, f)
			continue
		}
		its, e := shows(t, journalSocket)
		f.Evidence = append(f.Evidence, Evidence{Text: e.Line(), Show: fmt.Sprintf("cat /proc/%d/mountinfo", d.PID)})
		f.Answer, f.Message = facts.Yes, "mountward in a container reaches the journal"
		if its != want {
			f.Answer = facts.No
			f.Message = "mountward runs in a container without the " + journalSocket + " of the host"
			f.Effect = "its records are kept in memory and in its own files, and never reach the node's journal"
			f.Fixes = []Fix{{What: "mount the directory /run/systemd/journal of the host into it (the directory, for the socket is made anew when journald restarts)", Persistent: true}}
		}
		all = append(all, f)
	}
	return all
}

// shows returns what of which superblock a mount table has at a path. By that
// two namespaces are known to have the same file there.
func shows(t *hostview.Table, path string) (what facts.Identity, e hostview.Entry) {
	e, _ = t.Covering(path)
	what = e.Identity()
	rest, _ := facts.Below(path, e.MountPoint)
	what.Root = facts.JoinRoot(what.Root, rest)
	return what, e
}

// present says whether a path leads to anything.
func present(ctx context.Context, files Files, path string) facts.Answer {
	_, err := files.Canonical(ctx, path)
	switch {
	case err == nil:
		return facts.Is(true, path)
	case errors.Is(err, fs.ErrNotExist):
		return facts.Is(false, path+": no such file")
	default:
		return facts.CannotTell(err.Error())
	}
}
