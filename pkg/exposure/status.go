package exposure

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// The capabilities that matter, by their numbers. Source: capabilities(7),
// linux/capability.h.
const (
	capDACOverride   = "CAP_DAC_OVERRIDE"
	capDACReadSearch = "CAP_DAC_READ_SEARCH"
	capSysPtrace     = "CAP_SYS_PTRACE"
	capSysAdmin      = "CAP_SYS_ADMIN"
)

var capabilityBits = []struct {
	bit  uint
	name string
}{{1, capDACOverride}, {2, capDACReadSearch}, {19, capSysPtrace}, {21, capSysAdmin}}

// parseStatus reads the effective user id and the capabilities out of
// /proc/<pid>/status. The name of the process is in it as well, escaped.
func parseStatus(text []byte) (User, error) {
	u := User{Capabilities: []string{}}
	uid, effective := false, false
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, maxStatus)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		fields := strings.Fields(value)
		switch {
		case name == "Uid" && len(fields) == 4: // real, effective, saved, of the file system
			n, err := strconv.ParseUint(fields[1], 10, 32)
			u.UID, uid = uint32(n), err == nil
		case name == "CapEff" && len(fields) == 1:
			n, err := strconv.ParseUint(fields[0], 16, 64)
			u.Capabilities, effective = capabilities(n), err == nil
		case name == "CapBnd" && len(fields) == 1:
			if n, err := strconv.ParseUint(fields[0], 16, 64); err == nil {
				u.bounding = capabilities(n)
			}
		}
	}
	if !uid || !effective {
		return User{}, errors.New("read status: it has no user id or no capabilities")
	}
	return u, nil
}

func capabilities(set uint64) []string {
	names := []string{}
	for _, c := range capabilityBits {
		if set&(1<<c.bit) != 0 {
			names = append(names, c.name)
		}
	}
	return names
}

// idRange is a line of uid_map: count ids from inside on are those from outside
// on. Source: user_namespaces(7).
type idRange struct{ inside, outside, count uint32 }

func parseIDMap(text []byte) ([]idRange, error) {
	var all []idRange
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		var n [3]uint32
		if len(fields) != len(n) {
			return nil, fmt.Errorf("read uid_map: %q", line)
		}
		for i, f := range fields {
			v, err := strconv.ParseUint(f, 10, 32)
			if err != nil {
				return nil, fmt.Errorf("read uid_map: %w", err)
			}
			n[i] = uint32(v)
		}
		all = append(all, idRange{n[0], n[1], n[2]})
	}
	return all, nil
}
