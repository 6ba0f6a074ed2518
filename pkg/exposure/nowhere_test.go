package exposure

import (
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/target"
)

// TestANumberThatNothingHasIsNoAnswer, but one that a device, a table or a
// process has.
func TestANumberThatNothingHasIsNoAnswer(t *testing.T) {
	number := func(n facts.DeviceNumber) target.Target {
		return target.Target{Name: n.String(), Kind: target.KindDevice, Block: n, Superblocks: []target.Superblock{{Device: n}}}
	}
	there := number(dev(7, 9))
	there.Chain = &device.Chain{}
	anonymous := number(dev(0, 77))
	anonymous.Kind = target.KindAnonymous
	for name, test := range map[string]struct {
		target target.Target
		open   bool
		known  bool
	}{
		"a typo":                            {number(dev(7, 999)), false, false},
		"of no superblock":                  {anonymous, false, false},
		"a device that nobody has mounted":  {there, false, true},
		"a removed device that is mounted":  {number(dev(253, 7)), false, true},
		"a removed device that is open":     {number(dev(7, 999)), true, true},
		"a logical volume, which was found": {target.Target{Name: "vg0/x", Kind: target.KindLV, Superblocks: []target.Superblock{{Device: dev(253, 99)}}}, false, true},
	} {
		n := newNode(t)
		n.add(agent(), rootfs+"\n")
		if test.open {
			n.open(202, "fd/3", "/", Stat{Device: test.target.Block, MountID: 999, Directory: true})
		}
		r := Find(t.Context(), n.Node, []target.Target{test.target})
		if (len(r.Unknown) == 0) != test.known || !test.known && !strings.Contains(r.Unknown[0].Why, "no such target") {
			t.Errorf("%s: %v", name, r.Unknown)
		}
	}
}

// TestTheCommandThatShowsADeviceIsOneWord, whatever the pod called its device.
func TestTheCommandThatShowsADeviceIsOneWord(t *testing.T) {
	n := newNode(t)
	p := agent()
	p.devices = []facts.Device{{Path: "/dev/x;reboot $(id)'", Type: "b", Number: dev(253, 7)}}
	n.add(p, rootfs+"\n")
	r := Find(t.Context(), n.Node, []target.Target{pvc1})
	const want = `grep -F -A5 -e '/dev/x;reboot $(id)'\''' /run/containerd/x/agent/config.json`
	if len(r.Viewers) == 0 || r.Viewers[0].Paths[0].Evidence[0].Show != want {
		t.Errorf("%+v", r.Viewers)
	}
}

// TestWhoCanRemountWhatIsReadOnly: it takes the right to mount in the user
// namespace of the node; in another the mount can be locked.
func TestWhoCanRemountWhatIsReadOnly(t *testing.T) {
	yes, no, unsure := facts.Yes, facts.No, facts.Unknown
	for name, test := range map[string]struct {
		caps string
		user uint64
		mode string
		want *facts.Truth
	}{
		"a usual container":            {usualCaps, 0, "ro", &no},
		"with CAP_SYS_ADMIN":           {allCaps, 0, "ro", &yes},
		"in a user namespace":          {allCaps, 901, "ro", &unsure},
		"what is writable is not told": {allCaps, 0, "rw", nil},
	} {
		n := newNode(t)
		a := agent(bind(volume, "/x", test.mode))
		a.caps, a.user = test.caps, test.user
		n.add(a, lines(rootfs, "600 500 253:7 / /x "+test.mode+" - xfs /dev/vg0/pvc-1 rw"))
		p := Find(t.Context(), n.Node, []target.Target{pvc1}).Viewers[0].Paths[0]
		if (p.Remount == nil) != (test.want == nil) || p.Remount != nil && (p.Remount.Truth != *test.want || p.Remount.Why == "") {
			t.Errorf("%s: %+v", name, p.Remount)
		}
	}
}
