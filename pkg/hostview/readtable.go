package hostview

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/moby/sys/mountinfo"

	"github.com/mountward/mountward/pkg/facts"
)

// ReadTable reads a mountinfo table. A line that does not parse is an error: a
// table with holes would answer "no" where it cannot tell. A line too long to
// be kept loses its superblock options.
func ReadTable(r io.Reader) (*Table, error) { return readTable(r, true) }

func readTable(r io.Reader, supers bool) (*Table, error) {
	lines := newLongLines(r)
	b := builder{t: &Table{}, seen: map[string]uint32{}, supers: supers}
	b.word("")
	var bad error
	_, err := mountinfo.GetMountsFromReader(lines, func(info *mountinfo.Info) (skip, stop bool) {
		if bad == nil {
			bad = b.add(info)
		}
		return true, false // what is skipped cannot stop the reading
	})
	if err := errors.Join(err, bad); err != nil {
		return nil, fmt.Errorf("read mountinfo: %w", err)
	}
	for _, n := range lines.cut {
		b.t.records[n].supers = 0
	}
	b.t.points = b.points.String()
	b.t.order()
	return b.t, nil
}

type builder struct {
	t      *Table
	points strings.Builder
	seen   map[string]uint32
	supers bool
}

func (b *builder) add(info *mountinfo.Info) error {
	state, err := facts.ParseMountState(info.Optional)
	if err != nil {
		return fmt.Errorf("mount %d: %w", info.ID, err)
	}
	// The parser looks for the separator from the end; options of old cifs
	// mounts hold spaces and perhaps a lone "-".
	if strings.Contains(" "+info.Optional+" ", " - ") {
		return fmt.Errorf("mount %d: more than one separator", info.ID)
	}
	for _, n := range []int{info.ID, info.Parent, info.Major, info.Minor, state.Peer, state.Master} {
		if n < 0 || n > math.MaxInt32 {
			return fmt.Errorf("mount %d: number %d out of range", info.ID, n)
		}
	}
	r := record{
		id: int32(info.ID), parent: int32(info.Parent),
		device: facts.DeviceNumber{Major: uint32(info.Major), Minor: uint32(info.Minor)},
		peer:   int32(state.Peer), master: int32(state.Master), unbindable: state.Unbindable,
		point: uint32(b.points.Len()), pointLen: uint32(len(info.Mountpoint)),
		root: b.word(info.Root), fsType: b.word(info.FSType), source: b.word(info.Source), options: b.word(info.Options),
	}
	if b.supers {
		r.supers = b.word(info.VFSOptions)
	}
	if uint64(b.points.Len())+uint64(len(info.Mountpoint)) > math.MaxUint32 {
		return errors.New("table too large")
	}
	b.points.WriteString(info.Mountpoint)
	b.t.records = append(b.t.records, r)
	return nil
}

// word returns the number of a string, copied out of its line when it is new.
func (b *builder) word(s string) uint32 {
	if n, ok := b.seen[s]; ok {
		return n
	}
	s = strings.Clone(s)
	n := uint32(len(b.t.words))
	b.t.words = append(b.t.words, s)
	b.seen[s] = n
	return n
}
