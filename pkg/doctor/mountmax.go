package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

// The codes of how many mounts there are.
const (
	CodeMountMax     = "mount-max"      // too near to the limit
	CodeMountMaxFar  = "mount-max-far"  // yes
	CodeMountMaxNone = "mount-max-none" // yes: the kernel has no limit
)

// checkMountMax compares the number of mounts of each namespace that matters
// with the most that the kernel allows (fs.mount-max, Linux 4.9). A bind of a
// whole tree within itself makes twice of what is in it before it is done: what
// takes more than half is near.
func checkMountMax(s *Snapshot) []Finding {
	limit, err := mountMax(s.Proc)
	show := "sysctl fs.mount-max"
	if errors.Is(err, fs.ErrNotExist) {
		return []Finding{{
			Code: CodeMountMaxNone, Answer: facts.Yes, Subject: "fs.mount-max",
			Message:  "the kernel has no limit of mounts: it is from before Linux 4.9",
			Evidence: []Evidence{{Text: err.Error(), Show: show}},
		}}
	}
	if err != nil {
		return []Finding{{Code: CodeMountMax, Subject: "fs.mount-max", Message: "cannot tell how many mounts the kernel allows: " + err.Error()}}
	}
	var all []Finding
	for _, sp := range s.spaces() {
		all = append(all, s.mountMax(sp, limit, Evidence{Text: "fs.mount-max = " + strconv.Itoa(limit), Show: show}))
	}
	return append(all, s.mountMaxInside(limit)...)
}

// mountMaxInside looks at the containers that receive what the host mounts, if
// it has many mounts: where one of them is full the host cannot mount either.
func (s *Snapshot) mountMaxInside(limit int) []Finding {
	sp, ok := s.host()
	if !ok || sp.first().Table.Len()*4 <= limit {
		return nil
	}
	var all []Finding
	for _, c := range s.containers() {
		if c.Running.Truth != facts.Yes || !c.asks(facts.Slave) {
			continue
		}
		f := Finding{Code: CodeMountMax, Subject: c.name(), Where: c.in.String(), Containers: []string{c.name()}}
		switch t, err := s.tableOf(c); {
		case errors.Is(err, namespaces.ErrGone):
			continue
		case err != nil:
			f.Message = fmt.Sprintf("cannot tell how many mounts %s has: %v", c.name(), err)
		case t.Len()*2 > limit:
			f.Answer, f.Amount = facts.No, t.Len()
			f.Message = fmt.Sprintf("%d mounts of at most %d in %s: more than half", t.Len(), limit, c.name())
			f.Effect = "where a container that receives the mounts of the host is full, no mount that it would receive can be made on the host either: ENOSPC (no space left on device)"
			f.Evidence = []Evidence{{Text: fmt.Sprintf("%d mounts", t.Len()), Show: fmt.Sprintf("wc -l /proc/%d/mountinfo", c.process)}}
			f.Fixes = []Fix{{What: "restart the container: it starts with what the host has mounted by then"}}
		default:
			continue
		}
		all = append(all, f)
	}
	return all
}

func (s *Snapshot) mountMax(sp space, limit int, sysctl Evidence) Finding {
	count := sp.first().Table.Len()
	f := Finding{
		Code: CodeMountMaxFar, Answer: facts.Yes, Subject: "fs.mount-max", Where: sp.where(), Amount: count,
		Message: fmt.Sprintf("%d mounts of at most %d", count, limit),
		Evidence: []Evidence{
			{Text: fmt.Sprintf("%d mounts", count), Show: fmt.Sprintf("wc -l /proc/%d/mountinfo", sp.first().Process.PID)}, sysctl,
		},
	}
	largest := pile{}
	if piles := s.piles(sp); len(piles) > 0 {
		largest = piles[0]
	}
	// The copies of a pile are made before they are mounted, and arrive where
	// they are shared: twice as many are needed.
	next := 0
	if doubling(largest.equal) {
		next = 2 * largest.equal
	}
	if count*2 <= limit && count+next <= limit {
		return f
	}
	f.Code, f.Answer = CodeMountMax, facts.No
	f.Message += ": more than half, so that one bind of the whole tree fails"
	if count*2 <= limit {
		f.Message = fmt.Sprintf("%d mounts of at most %d: when the %d at %s double once more, the limit is passed", count, limit, largest.equal, word(largest.point))
	}
	f.Effect = "a mount that would pass the limit fails with ENOSPC (no space left on device), whatever space the disks have: containers, and the kubelet, do not start"
	f.Fixes = []Fix{{
		What:     "raise the limit, to have time to find what makes the mounts",
		Commands: []string{fmt.Sprintf("sysctl -w fs.mount-max=%d", max(2*limit, 200000))},
	}, {
		What:       "the same at every boot",
		File:       "/etc/sysctl.d/90-mount-max.conf",
		Content:    fmt.Sprintf("fs.mount-max = %d\n", max(2*limit, 200000)),
		Persistent: true,
	}}
	if largest.all > 0 {
		b := s.blame(sp, []hostview.Entry{largest.one})[0]
		f.Cause = fmt.Sprintf("%d of them are at %s; %s", largest.all, word(largest.point), b.cause())
		f.Containers, f.Evidence = b.names, append(append(f.Evidence, sp.evidence(largest.one)), b.evidence...)
	}
	return f
}

func mountMax(proc string) (int, error) {
	f, err := os.Open(filepath.Join(proc, "sys/fs/mount-max"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 64))
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(string(bytes.TrimSpace(text)))
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("%s: %q is no limit", f.Name(), text)
	}
	return n, nil
}
