package pins

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/mangle"
	"github.com/mountward/mountward/pkg/internal/shell"
	"github.com/mountward/mountward/pkg/internal/words"
)

// services finds what the kernel itself uses: swap areas, exports of its NFS
// server, block devices that it serves.
func (s *search) services() {
	s.swaps()
	s.exports()
	s.served()
}

// maxFile bounds the text of one file of procfs.
const maxFile = 4 << 20

// lines reads a file of procfs; one that is not there has none.
func (s *search) lines(name string) (all []string, there bool, err error) {
	text, err := os.ReadFile(filepath.Join(s.Proc, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, nil
	case err != nil:
		return nil, true, err
	case len(text) > maxFile:
		return nil, true, fmt.Errorf("larger than %d bytes", maxFile)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), true, nil
}

// field is the first field of a line, with the escapes of procfs undone.
func field(line string) string {
	first, _, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
	return mangle.Unescape(first)
}

// swaps reads /proc/swaps: a block device, or a file.
func (s *search) swaps() {
	all, there, err := s.lines("swaps")
	if err != nil {
		s.unknownToAll("swap areas", err.Error())
		return
	}
	if !there || len(all) == 0 {
		s.searched("no swap")
		return
	}
	for _, line := range all[1:] {
		if !strings.HasPrefix(line, "/") {
			continue
		}
		path := field(line)
		h := Holder{
			Kind: KindSwap, Where: WhereKernel, Path: path, Why: "it is a swap area",
			Evidence: []Evidence{{Text: strings.Join(strings.Fields(line), " "), Show: "cat /proc/swaps"}},
			opens:    s.swapOpens(),
		}
		h.cure("stop swapping to it", "what is in it has to fit into memory", "swapoff "+shell.Quote(strings.TrimSuffix(path, " (deleted)")))
		s.byPath(path, "swap area", h)
	}
	s.searched("%s of /proc/swaps", words.Count(len(all)-1, "area"))
}

// swapOpens is how often a block device is open for being a swap area: before
// Linux 6.10 swapon(2) keeps it open by its name, and opens it once more for
// itself (seen on 6.1 and 6.12).
func (s *search) swapOpens() int {
	text, err := os.ReadFile(filepath.Join(s.Proc, "sys/kernel/osrelease"))
	var major, minor int
	if _, scan := fmt.Sscanf(string(text), "%d.%d", &major, &minor); err != nil || scan != nil {
		return 1
	}
	if major < 6 || major == 6 && minor < 10 {
		return 2
	}
	return 1
}

// exports reads what the kernel's NFS server has exported.
func (s *search) exports() {
	all, there, err := s.lines("fs/nfsd/exports")
	if err != nil {
		s.unknownToAll("exports of the NFS server", err.Error())
		return
	}
	if !there {
		s.searched("the NFS server of the kernel, which is not there")
		return
	}
	count := 0
	for _, line := range all {
		if !strings.HasPrefix(line, "/") {
			continue
		}
		count++
		path := field(line)
		h := Holder{
			Kind: KindExport, Where: WhereKernel, Path: path, Why: "the kernel's NFS server exports it, and keeps its mount busy",
			Evidence: []Evidence{{Text: line, Show: "cat /proc/fs/nfsd/exports"}},
		}
		h.cure("take the export back", "clients lose it", "exportfs -u "+shell.Quote("*:"+path), "exportfs -f")
		s.byPath(path, "export", h)
	}
	s.searched("%s of the NFS server", words.Count(count, "export"))
}

// served finds the block devices and files that the kernel's SCSI and NVMe
// targets serve.
func (s *search) served() {
	var files []string
	for _, pattern := range []string{"target/core/*/*/udev_path", "nvmet/subsystems/*/namespaces/*/device_path"} {
		found, err := filepath.Glob(filepath.Join(s.Sys, "kernel", "config", pattern))
		if err == nil { // the patterns are good
			files = append(files, found...)
		}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		path := strings.TrimSpace(string(text))
		if err != nil || !strings.HasPrefix(path, "/") {
			continue // it is just being made or removed
		}
		h := Holder{
			Kind: KindExportedBlock, Where: WhereKernel, Path: path, Why: "the kernel serves it to other machines (SCSI or NVMe target)",
			Evidence: []Evidence{{Text: path, Show: "cat " + shell.Quote(strings.Replace(file, s.Sys, "/sys", 1))}},
		}
		h.cure("take it out of the target's configuration", "clients lose it")
		s.byPath(path, "served device", h)
	}
	s.searched("%s of the kernel's SCSI and NVMe targets", words.Count(len(files), "device"))
}

// byPath adds a holder to the targets that a path of the host is of.
func (s *search) byPath(path, what string, h Holder) {
	clean := strings.TrimSuffix(path, " (deleted)")
	at, err := s.Host.Lookup(s.ctx, clean)
	if err != nil {
		s.unknownToAll(what+" "+path, err.Error())
		return
	}
	if number, err := s.Host.BlockNumber(s.ctx, clean); err == nil {
		h.on = number
		for _, t := range s.want.blocks[number] {
			s.add(t, h)
		}
		return
	}
	for _, t := range s.want.inside(facts.Identity{Device: at.Device, Root: at.Identity().Root}) {
		s.add(t, h)
	}
}
