package namespaces

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// stat is what is used of /proc/<pid>/stat; proc(5) numbers the fields.
type stat struct {
	comm    string
	zombie  bool
	parent  int
	kernel  bool
	threads int
	start   uint64 // clock ticks after boot
}

const (
	kernelThread = 0x00200000 // PF_KTHREAD, linux/sched.h
	clockTicks   = 100        // USER_HZ, on every architecture Go has
)

var errStat = errors.New("not the line of a process")

// parseStat reads the line of a process. The name stands in brackets and can
// hold brackets, spaces and numbers: it ends with the last closing one.
func parseStat(line []byte) (stat, error) {
	begin, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if begin < 0 || end < begin {
		return stat{}, errStat
	}
	s := stat{comm: string(line[begin+1 : end])}
	fields := strings.Fields(string(line[end+1:])) // from the third on
	if len(fields) < 20 {
		return stat{}, errStat
	}
	s.zombie = fields[0] == "Z" || fields[0] == "X"
	parent, err1 := strconv.ParseUint(fields[4-3], 10, 31)
	flags, err2 := strconv.ParseUint(fields[9-3], 10, 32)
	threads, err3 := strconv.ParseInt(fields[20-3], 10, 32)
	start, err4 := strconv.ParseUint(fields[22-3], 10, 64)
	if errors.Join(err1, err2, err3, err4) != nil {
		return stat{}, errStat
	}
	s.parent, s.kernel, s.threads, s.start = int(parent), flags&kernelThread != 0, int(threads), start
	return s, nil
}

// started returns when a process was started, zero where the time of the boot
// is not known.
func (s stat) started(boot time.Time) time.Time {
	if boot.IsZero() || s.start > math.MaxInt64/uint64(time.Second/clockTicks) {
		return time.Time{}
	}
	return boot.Add(time.Duration(s.start) * (time.Second / clockTicks))
}

// bootTime reads btime of /proc/stat, in seconds.
func bootTime(text []byte) time.Time {
	for line := range bytes.Lines(text) {
		if number, ok := bytes.CutPrefix(line, []byte("btime ")); ok {
			if seconds, err := strconv.ParseInt(string(bytes.TrimSpace(number)), 10, 64); err == nil {
				return time.Unix(seconds, 0)
			}
		}
	}
	return time.Time{}
}

// effectiveUID reads /proc/<pid>/status. A name in it has its newlines escaped.
func effectiveUID(text []byte) *uint32 {
	for line := range bytes.Lines(text) {
		if ids, ok := bytes.CutPrefix(line, []byte("Uid:")); ok {
			fields := strings.Fields(string(ids))
			if len(fields) < 2 {
				return nil
			}
			uid, err := strconv.ParseUint(fields[1], 10, 32)
			if err != nil {
				return nil
			}
			return new(uint32(uid))
		}
	}
	return nil
}
