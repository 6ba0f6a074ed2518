package pins

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mountward/mountward/pkg/facts"
)

// maxMaps bounds what is read of a process's list of mappings. The kernel allows
// 65530 of them by default.
const maxMaps = 64 << 20

// mapping is one line of /proc/PID/maps that has a file.
type mapping struct {
	device facts.DeviceNumber // of the superblock, also on btrfs
	path   string
}

// parseMapping reads a line of maps, see proc(5), of a file system that is
// wanted. The path is the rest of the line, in which the kernel escapes only a
// newline. Of other lines, nearly all, nothing is copied.
func parseMapping(line []byte, wanted func(facts.DeviceNumber) bool) (m mapping, ok bool) {
	for range 3 { // addresses, permissions, offset
		if _, line, ok = bytes.Cut(line, []byte(" ")); !ok {
			return m, false
		}
	}
	number, line, ok := bytes.Cut(line, []byte(" "))
	if !ok {
		return m, false
	}
	major, minor, ok := bytes.Cut(number, []byte(":"))
	a, errA := strconv.ParseUint(string(major), 16, 32)
	b, errB := strconv.ParseUint(string(minor), 16, 32)
	m.device = facts.DeviceNumber{Major: uint32(a), Minor: uint32(b)}
	if !ok || errA != nil || errB != nil || m.device.IsZero() || !wanted(m.device) {
		return mapping{}, false
	}
	_, line, _ = bytes.Cut(line, []byte(" ")) // the inode
	m.path = strings.ReplaceAll(string(bytes.TrimLeft(line, " ")), `\012`, "\n")
	return m, true
}

// mapped looks for files of the targets in a process's memory. maps has the
// number of their superblocks, which map_files, that takes a capability more,
// has not.
func (s *search) mapped(at inspected) (all []held, err error) {
	if len(s.want.superblocks) == 0 {
		return nil, nil
	}
	f, err := at.task.Open("maps")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	wanted := func(n facts.DeviceNumber) bool { return len(s.want.superblocks[n]) > 0 }
	lines := bufio.NewScanner(io.LimitReader(f, maxMaps))
	lines.Buffer(make([]byte, 4<<10), 1<<20)
	seen := map[mapping]bool{}
	for lines.Scan() {
		m, ok := parseMapping(lines.Bytes(), wanted)
		if !ok || seen[m] {
			continue
		}
		seen[m] = true
		if h := s.mapping(at, lines.Bytes(), m); len(h.targets)+len(h.may) > 0 {
			all = append(all, h)
		}
	}
	return all, lines.Err()
}

// mapping finds the targets that a mapped file is of. Which mount it is on, and
// so whether it is in a part of a file system, only map_files tells, which takes
// a capability more (CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN).
func (s *search) mapping(at inspected, line []byte, m mapping) held {
	h := held{kind: KindMapped, file: File{Link: "maps", Path: m.path}, text: fmt.Sprintf("maps: device %s %s", m.device, m.path)}
	name := "map_files/" + span(line)
	st, err := s.Stat(at.dir + "/" + name)
	if err == nil {
		h.file.MountID = st.MountID
		s.onMount(&h, at, name, st)
	}
	for _, p := range s.want.superblocks[m.device] {
		h.of(p, p.Whole(), err != nil && !gone(err))
	}
	return h
}

// span is the range of addresses of a line of maps as map_files names it: there
// the numbers have no zeros before them.
func span(line []byte) string {
	addresses, _, _ := bytes.Cut(line, []byte(" "))
	from, to, _ := strings.Cut(string(addresses), "-")
	short := func(s string) string { return cmp.Or(strings.TrimLeft(s, "0"), "0") }
	return short(from) + "-" + short(to)
}
