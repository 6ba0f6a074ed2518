package device

import (
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

func TestALoopDeviceOnAnAnonymousNumberIsToldByTheTypeThatHasIt(t *testing.T) {
	const loop = "7:0 loop0 file=/img\nioctl loop0 file=0:79\n"
	for _, test := range []struct {
		node, fsType, answer, note string
	}{
		{loop, "tmpfs", "no", "/img on tmpfs: in memory"},
		{loop, "nfs4", "no", "/img on nfs4: not on a device of this node"},
		{loop, "btrfs", "unknown", "/img"},
		{loop, "overlay", "unknown", "/img"},
		{loop, "", "unknown", "/img"},
		{"7:0 loop0 file=/img\nioctl loop0 file=253:5\n" + thin, "tmpfs", "yes", "/img"},
		{"7:0 loop0 file=/img\nioctl loop0 error=stuck\n", "tmpfs", "unknown", "/img"},
	} {
		c, err := newFixture(t, test.node).FS().Chain(number(7, 0))
		if err != nil {
			t.Fatal(err)
		}
		c.Settle(func(l Layer) string {
			if l.File != (facts.DeviceNumber{Minor: 79}) {
				t.Errorf("asked about %s", l.File)
			}
			return test.fsType
		})
		if got := c.Answer().Truth.String(); got != test.answer || c.Layers[0].Note != test.note {
			t.Errorf("on %q: %s, note %q; want %s, %q", test.fsType, got, c.Layers[0].Note, test.answer, test.note)
		}
	}
}
