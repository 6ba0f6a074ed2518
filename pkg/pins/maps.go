package pins

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

// maxMaps bounds what is read of a process's list of mappings. The kernel allows
// 65530 of them by default.
const maxMaps = 64 << 20

// mapping is one line of /proc/PID/maps that has a file.
type mapping struct {
	device facts.DeviceNumber // of the superblock, also on btrfs
	path   string
}

// parseMapping reads a line of maps, see proc(5). The path is the rest of the
// line, in which the kernel escapes only a newline.
func parseMapping(line string) (m mapping, ok bool) {
	for range 3 { // addresses, permissions, offset
		if _, line, ok = strings.Cut(line, " "); !ok {
			return m, false
		}
	}
	number, line, ok := strings.Cut(line, " ")
	if !ok || number == "00:00" {
		return m, false
	}
	major, minor, ok := strings.Cut(number, ":")
	a, errA := strconv.ParseUint(major, 16, 32)
	b, errB := strconv.ParseUint(minor, 16, 32)
	if !ok || errA != nil || errB != nil {
		return m, false
	}
	_, line, _ = strings.Cut(line, " ") // the inode
	m.device = facts.DeviceNumber{Major: uint32(a), Minor: uint32(b)}
	m.path = strings.ReplaceAll(strings.TrimLeft(line, " "), `\012`, "\n")
	return m, true
}

// mapped looks for files of the targets in a process's memory. maps has the
// number of their superblocks, which map_files, that takes a capability more,
// has not.
func (s *search) mapped(_ namespaces.Process, dir string) (all []held, err error) {
	if len(s.want.superblocks) == 0 {
		return nil, nil
	}
	f, err := os.Open(filepath.Join(dir, "maps"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(io.LimitReader(f, maxMaps), 64<<10)
	seen := map[mapping]bool{}
	for {
		line, err := r.ReadString('\n')
		if m, ok := parseMapping(strings.TrimSuffix(line, "\n")); ok && !seen[m] {
			seen[m] = true
			if h := s.mapping(m); len(h.targets)+len(h.may) > 0 {
				all = append(all, h)
			}
		}
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}

// mapping finds the targets that a mapped file is of. The file's mount is not
// told; of a part of a file system it cannot be told then.
func (s *search) mapping(m mapping) held {
	h := held{kind: KindMapped, file: File{Link: "maps", Path: m.path}, text: fmt.Sprintf("maps: device %s %s", m.device, m.path)}
	for _, p := range s.want.superblocks[m.device] {
		if p.Whole() {
			h.targets = append(h.targets, p.target)
		}
	}
	return h
}
