package device

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// A volume on a loop device: the answer of the loop is where a test can change
// the node between two reads.
const onLoop = `
253:1 dm-1 dm=luks uuid=CRYPT-LUKS2-0-luks > 7:0
7:0 loop0 file=/img
253:0 dm-0 dm=vg0-old uuid=LVM-{vg0}{old} > 8:0
8:0 sda
ioctl loop0 file=253:0
`

func TestADeviceRemovedBetweenTwoReadsIsLookedForOnceMore(t *testing.T) {
	f := newFixture(t, onLoop)
	link := filepath.Join(f.sys, "dev", "block", "253:0")
	asked := 0
	f.loops["loop0"] = func() (LoopStatus, error) {
		asked++
		from, to := link, link+".away"
		if asked == 2 {
			from, to = to, from
		}
		return LoopStatus{File: number(253, 0)}, os.Rename(from, to)
	}
	c, err := f.FS().Chain(number(253, 1))
	if err != nil || asked != 2 || c.LV() == nil || c.LV().String() != "vg0/old" || len(c.Unknowns()) != 0 {
		t.Errorf("asked %d times: %+v, %v", asked, c, err)
	}
}

func TestALookedUpDeviceIsLookedForOnceMore(t *testing.T) {
	for missing, want := range []string{"there", "there", ""} {
		reads := 0
		l, err := twice(number(8, 0), func(facts.DeviceNumber) (Layer, error) {
			if reads++; reads <= missing {
				return Layer{}, fs.ErrNotExist
			}
			return Layer{Name: "there"}, nil
		})
		if l.Name != want || (err != nil) != (want == "") || reads != min(missing+1, 2) {
			t.Errorf("missing %d times: %+v %v, read %d times", missing, l, err, reads)
		}
	}
	denied := 0
	if _, err := twice(number(8, 0), func(facts.DeviceNumber) (Layer, error) {
		denied++
		return Layer{}, fs.ErrPermission
	}); err == nil || denied != 1 {
		t.Errorf("no right to read: %v, read %d times", err, denied)
	}
}

func TestABtrfsWhoseDeviceIsRemovedIsLookedForOnceMore(t *testing.T) {
	const fsid = "00000000-0000-0000-0000-000000000001"
	f := newFixture(t, onLoop+"btrfs "+fsid+" 7:0")
	link := filepath.Join(f.sys, "dev", "block", "253:0")
	asked := 0
	f.loops["loop0"] = func() (LoopStatus, error) {
		asked++
		from, to := link, link+".away"
		if asked == 2 {
			from, to = to, from
		}
		return LoopStatus{File: number(253, 0)}, os.Rename(from, to)
	}
	c, err := f.FS().Btrfs(fsid, 1)
	if err != nil || asked != 2 || c.LV() == nil || len(c.Unknowns()) != 0 {
		t.Errorf("asked %d times: %+v, %v", asked, c, err)
	}
}

func TestADeviceThatStaysAwayCannotBeTold(t *testing.T) {
	f := newFixture(t, onLoop)
	asked := 0
	f.loops["loop0"] = func() (LoopStatus, error) {
		asked++
		f.remove(t, number(253, 0))
		return LoopStatus{File: number(253, 0)}, nil
	}
	c, err := f.FS().Chain(number(253, 1))
	if err != nil || asked != 2 || c.LV() != nil || c.Answer().Truth.String() != "unknown" {
		t.Errorf("asked %d times: %+v, %v", asked, c.Answer(), err)
	}
}

// The loop device itself is replaced while it is asked: what was read of the
// first must not be told of the second.
func TestADeviceReplacedWhileItIsReadIsReadOnceMore(t *testing.T) {
	f := newFixture(t, onLoop)
	dir := f.dir(number(7, 0))
	asked := 0
	f.loops["loop0"] = func() (LoopStatus, error) {
		asked++
		if asked == 1 {
			if err := os.Rename(dir, dir+".away"); err != nil {
				return LoopStatus{}, err
			}
			f.write(t, filepath.Join(dir, "dev"), "7:0")
			f.write(t, filepath.Join(dir, "loop", "backing_file"), "/new")
		}
		return LoopStatus{File: number(253, 0)}, nil
	}
	c, err := f.FS().Chain(number(7, 0))
	if err != nil || asked != 2 || c.Layers[0].Note != "/new" {
		t.Errorf("asked %d times: %+v, %v", asked, c, err)
	}
}

func TestADeepChainIsNotFollowedForEver(t *testing.T) {
	var text strings.Builder
	for i := range maxDepth + 5 {
		fmt.Fprintf(&text, "253:%d dm-%d dm=d%d > 253:%d\n", i, i, i, i+1)
	}
	fmt.Fprintf(&text, "253:%d dm-%d dm=vg0-data uuid=LVM-{vg0}{data}\n", maxDepth+5, maxDepth+5)
	sys := newFixture(t, text.String()).FS()
	c, err := sys.Chain(number(253, 0))
	if err != nil || len(c.Layers) != maxDepth || c.Answer().Truth.String() != "unknown" || len(c.Physical()) != 0 {
		t.Errorf("%d layers: %+v %v", len(c.Layers), c.Answer(), err)
	}
	c, err = sys.Chain(number(253, 6))
	if err != nil || len(c.Layers) != maxDepth || c.Answer().Truth.String() != "yes" {
		t.Errorf("%d layers: %+v %v", len(c.Layers), c.Answer(), err)
	}
}
