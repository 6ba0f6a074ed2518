package pins

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/shell"
	"github.com/mountward/mountward/pkg/internal/wait"
	"github.com/mountward/mountward/pkg/internal/words"
	"github.com/mountward/mountward/pkg/namespaces"
)

// maxStuck bounds the processes that are left behind without an answer.
const maxStuck = 16

// held is one file that a process has of a target.
type held struct {
	kind    Kind
	file    File
	targets []int
	may     []int // of which it cannot be told whether it is in the part that is meant
	text    string
	on      facts.DeviceNumber // the block device that is open
}

// patience is how long one process or one file system is waited for.
const patience = 2 * time.Second

// processes looks at what every process has open, mapped, or stands in. Nothing
// is opened: a descriptor on a slave copy would make the host's unmount busy.
// Each process is waited for only shortly.
func (s *search) processes() {
	var all []namespaces.Process
	for _, p := range s.Census.Processes {
		if !p.Kernel && (p.PID != s.Self || s.Self == 0) {
			all = append(all, p)
		}
	}
	results := make([][]held, len(all))
	errs := make([]error, len(all))
	work := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	stuck := 0
	for range min(4, max(1, runtime.NumCPU())) {
		wg.Go(func() {
			for i := range work {
				mu.Lock()
				enough := stuck >= maxStuck
				mu.Unlock()
				if enough {
					errs[i] = fmt.Errorf("%d other processes did not answer", maxStuck)
					continue
				}
				type found struct {
					files []held
					err   error
				}
				f, err := wait.For(s.ctx, patience, func() (found, error) {
					files, err := s.inspect(all[i])
					return found{files, err}, nil
				}, nil)
				if errors.Is(err, wait.ErrNoAnswer) {
					mu.Lock()
					stuck++
					mu.Unlock()
				}
				if err == nil {
					err = f.err
				}
				results[i], errs[i] = f.files, err
			}
		})
	}
	for i := range all {
		work <- i
	}
	close(work)
	wg.Wait()
	s.processErrors(all, errs)
	for i, files := range results {
		s.holdersOf(all[i], files)
	}
	if len(s.want.namespaces) > 0 {
		s.searched("the namespaces of %s", words.Count(len(all), "process"))
	}
	s.searched("working directories, roots, programs, mapped and open files of %s", words.Count(len(all), "process"))
}

// processErrors tells of what could not be read: of one that does not answer by
// itself, of those that are not ours together.
func (s *search) processErrors(all []namespaces.Process, errs []error) {
	denied, first, why := 0, "", ""
	for i, err := range errs {
		switch {
		case err == nil:
		case errors.Is(err, fs.ErrPermission):
			if denied++; first == "" {
				first, why = fmt.Sprintf("%s[%d]", all[i].Comm, all[i].PID), err.Error()
			}
		default:
			s.unknownToAll(fmt.Sprintf("files of process %s[%d]", all[i].Comm, all[i].PID), err.Error())
		}
	}
	if denied > 0 {
		s.unknownToAll("files of "+words.Count(denied, "process"), first+": "+why+"; it takes root, in the pid namespace of the host")
	}
}

// holdersOf makes holders of what one process has: one for each target, and
// apart from its files one for devices and for namespaces.
func (s *search) holdersOf(p namespaces.Process, files []held) {
	type key struct {
		target int
		kind   Kind // of the files the first
		on     facts.DeviceNumber
	}
	holders := map[key]*Holder{}
	var order []key
	for _, f := range files {
		for _, t := range f.may {
			s.unknown(t, fmt.Sprintf("%s of process %s[%d]", f.file.Link, p.Comm, p.PID), "it is in the file system, but whether in the part that was asked about: "+f.file.Path)
		}
		for _, t := range f.targets {
			k := key{t, f.kind, f.on}
			if ofFile(f.kind) {
				k.kind = KindOpenFile
			}
			h := holders[k]
			if h == nil {
				h = s.processHolder(p, f.kind)
				holders[k] = h
				order = append(order, k)
			}
			h.file(p, f)
			h.on = f.on
		}
	}
	for _, k := range order {
		h := holders[k]
		h.User = !slices.ContainsFunc(h.Files, func(f File) bool { return !f.own })
		h.whyFiles()
		s.cureFiles(h)
		s.add(k.target, *h)
	}
}

// file adds a file to a holder. A descriptor comes first: it is what a process
// can give back.
func (h *Holder) file(p namespaces.Process, f held) {
	f.file.Kind = f.kind
	switch {
	case f.kind == KindOpenFile && h.Kind != KindOpenFile:
		h.Kind = KindOpenFile
		h.Files = slices.Insert(h.Files, 0, f.file)
	case len(h.Files) < maxMounts:
		h.Files = append(h.Files, f.file)
	default:
		h.FilesOmitted++
	}
	if len(h.Evidence) < 3 {
		h.Evidence = append(h.Evidence, Evidence{Text: f.text, Show: showFile(p, f.file)})
	}
}

func showFile(p namespaces.Process, f File) string {
	if f.Kind == KindMapped && f.Link == "maps" {
		return fmt.Sprintf("grep -F %s /proc/%d/maps", shell.Quote(f.Path), p.PID)
	}
	return fmt.Sprintf("ls -l /proc/%d/%s", p.PID, f.Link)
}

// ofFile reports the kinds that are files of a file system.
func ofFile(k Kind) bool {
	return k == KindOpenFile || k == KindCwd || k == KindRoot || k == KindExe || k == KindMapped
}

func (s *search) processHolder(p namespaces.Process, kind Kind) *Holder {
	h := &Holder{Kind: kind, Where: WhereOther}
	for _, n := range s.Census.Namespaces {
		if slices.Contains(n.PIDs, p.PID) {
			h.Namespace, h.namespace = n.Inode, n
			break
		}
	}
	if h.Namespace == s.Home && s.Home != 0 {
		h.Where = WhereHost
	}
	s.process(h, p)
	return h
}
