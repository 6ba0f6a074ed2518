package device

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// graph is a node with 16 devices of all kinds, whose edges the fuzzer draws:
// in each byte, the upper device and the lower one. The last three are not
// there.
type graph [16]map[byte]bool

const present = 13

func newGraph(edges []byte) graph {
	var g graph
	for i := range g {
		g[i] = map[byte]bool{}
	}
	for _, e := range edges {
		g[e>>4][e&15] = true
	}
	return g
}

// FuzzChain: any graph of devices, with cycles and with devices that are not
// there, is answered.
func FuzzChain(f *testing.F) {
	f.Add([]byte{0x01, 0x12, 0x23, 0x30})
	f.Add([]byte{0x01, 0x02, 0x13, 0x23, 0x3f, 0x80})
	f.Fuzz(func(t *testing.T, edges []byte) {
		g := newGraph(edges)
		reads := map[byte]int{}
		read := func(n facts.DeviceNumber) (Layer, error) {
			i := byte(n.Minor)
			reads[i]++
			if i >= present {
				return Layer{}, fs.ErrNotExist
			}
			l := Layer{Number: n, Name: fmt.Sprintf("dm-%d", i), Kind: DM}
			switch i % 4 {
			case 0:
				l.Kind, l.LV = LV, &LogicalVolume{VG: "vg0", LV: l.Name}
			case 1:
				l.Kind, l.Part, l.LV = LVLayer, "tpool", &LogicalVolume{VG: "vg0", LV: l.Name}
			}
			for to := range byte(16) {
				if g[i][to] {
					l.Lower = append(l.Lower, number(253, uint32(to)))
				}
			}
			return l, nil
		}
		for i := range byte(16) {
			clear(reads)
			c, err := single(number(253, uint32(i)), read, read)
			if (err != nil) != (i >= present) {
				t.Errorf("%d: %v", i, err)
			}
			for n, times := range reads {
				if times > 2 {
					t.Errorf("%d is read %d times", n, times)
				}
			}
			check(t, c)
		}
	})
}

// FuzzSysfs: the same, of what is read from a sysfs, with and without the cache.
func FuzzSysfs(f *testing.F) {
	f.Add([]byte{0x01, 0x12, 0x20})
	f.Fuzz(func(t *testing.T, edges []byte) {
		g := newGraph(edges)
		var text strings.Builder
		for i := range byte(5) {
			switch i {
			case 0, 1:
				fmt.Fprintf(&text, "253:%d dm-%d dm=vg0-lv%d uuid=LVM-{vg0}{lv%d}", i, i, i, i)
			case 2:
				fmt.Fprintf(&text, "253:%d dm-%d dm=vg0-p-tpool uuid=LVM-{vg0}{p}-tpool", i, i)
			case 3:
				fmt.Fprintf(&text, "253:%d md%d level=raid1", i, i)
			case 4:
				fmt.Fprintf(&text, "253:%d loop%d file=/x", i, i)
			}
			text.WriteString(" >")
			for to := range byte(5) {
				if g[i][to] {
					fmt.Fprintf(&text, " 253:%d", to)
				}
			}
			text.WriteString("\n")
		}
		if len(edges) > 0 { // at nothing, at a file system without a device, or there
			fmt.Fprintf(&text, "ioctl loop4 file=%d:%d\n", edges[0]>>7*253, edges[0]&7)
		}
		fixture := newFixture(t, text.String())
		fixture.announce(t, 1)
		cache := NewCache(fixture.FS(), 3)
		for n := range fixture.names {
			c, err := fixture.FS().Chain(n)
			if err != nil {
				t.Errorf("%s: %v", n, err)
			}
			check(t, c)
			if got, err := cache.Chain(n); err != nil || show(got) != show(c) {
				t.Errorf("%v: the cache has\n%s, not\n%s", err, show(got), show(c))
			}
		}
	})
}

// check says what is true of any chain: each device is named once, everything
// below a layer is named or said not to be followed, nothing is missing without
// a reason, and no volume is told that is none or is only below another one.
func check(t *testing.T, c Chain) {
	t.Helper()
	layers := map[facts.DeviceNumber]Layer{}
	for _, l := range c.Layers {
		if _, twice := layers[l.Number]; twice {
			t.Errorf("%s is named twice", l.Number)
		}
		layers[l.Number] = l
		if !l.readable() && l.Unknown == "" {
			t.Errorf("%s could not be read for no reason", l.Number)
		}
	}
	below := map[facts.DeviceNumber]bool{}
	for _, l := range c.Layers {
		for _, lower := range l.Lower {
			below[lower] = true
			if _, named := layers[lower]; !named && l.Unknown == "" {
				t.Errorf("%s below %s is not named", lower, l.Number)
			}
		}
	}
	for i, l := range c.Layers {
		if i >= c.Tops && !below[l.Number] {
			t.Errorf("%s is below nothing", l.Number)
		}
	}
	found := map[string]bool{}
	for _, lv := range c.LVs() {
		found[lv.String()] = true
	}
	for _, l := range c.Layers[:min(c.Tops, len(c.Layers))] {
		if l.Kind == LV && (len(found) != 1 || c.LV().String() != l.LV.String()) {
			t.Errorf("on %s, but %v is told", l.LV, found)
		}
	}
	if answer := c.Answer(); (answer.Truth == facts.Yes) != (len(found) > 0) ||
		(answer.Truth == facts.No && len(c.Unknowns()) > 0) {
		t.Errorf("%v is told, and %+v", found, answer)
	}
}
