package device

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

const thin = `
253:5 dm-5 dm=vg0-pvc--1 uuid=LVM-{vg0}{pvc1} > 253:3
253:3 dm-3 dm=vg0-pool-tpool uuid=LVM-{vg0}{pool}-tpool > 253:1 253:2
253:2 dm-2 dm=vg0-pool_tdata uuid=LVM-{vg0}{tdata}-tdata > 8:0 8:16
253:1 dm-1 dm=vg0-pool_tmeta uuid=LVM-{vg0}{tmeta}-tmeta > 8:0
8:0 sda
8:16 sdb
`

// volume asks the cache for the volume of a device.
func volume(t *testing.T, c *Cache, n facts.DeviceNumber) string {
	t.Helper()
	chain, err := c.Chain(n)
	if err != nil {
		return err.Error()
	}
	return chain.Answer().Why
}

func TestTheCacheReadsNothingWhileTheKernelAnnouncesNothing(t *testing.T) {
	f := newFixture(t, thin)
	f.announce(t, 7)
	c := NewCache(f.FS(), 64)
	if got := volume(t, c, number(253, 5)); got != "vg0/pvc-1" {
		t.Fatal(got)
	}
	for _, dir := range []string{"dev", "devices"} {
		if err := os.RemoveAll(filepath.Join(f.sys, dir)); err != nil {
			t.Fatal(err)
		}
	}
	if got := volume(t, c, number(253, 5)); got != "vg0/pvc-1" {
		t.Errorf("it was read again: %s", got)
	}
	f.announce(t, 8)
	if got := volume(t, c, number(253, 5)); !strings.Contains(got, "no such file") {
		t.Errorf("it is told of a device that is gone: %s", got)
	}
}

// All of these come with an event. Only the second changes what a key of
// number, uuid and diskseq would have.
func TestTheCacheNeverTellsAnOldName(t *testing.T) {
	for name, change := range map[string]func(*fixture){
		"renamed": func(f *fixture) { f.write(t, f.dir(number(253, 5))+"/dm/name", "vg0-new") },
		"number used again": func(f *fixture) {
			f.remove(t, number(253, 5))
			f.device(t, number(253, 5), []string{"dm=vg0-new", "uuid=LVM-{vg0}{new}"})
		},
		"built of others now": func(f *fixture) {
			f.remove(t, number(253, 5))
			f.device(t, number(253, 5), []string{"dm=vg0-new", "uuid=LVM-{vg0}{pvc1}", ">", "8:16"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, thin)
			f.announce(t, 1)
			c := NewCache(f.FS(), 64)
			if got := volume(t, c, number(253, 5)); got != "vg0/pvc-1" {
				t.Fatal(got)
			}
			change(f)
			f.announce(t, 2)
			if got := volume(t, c, number(253, 5)); got != "vg0/new" {
				t.Errorf("the volume is %s", got)
			}
			if chain, err := c.Chain(number(253, 5)); err != nil || show(chain) != resolve(t, f.FS(), "chain 253:5") {
				t.Errorf("%v:\n%s", err, show(chain))
			}
		})
	}
}

func TestWithoutACountOfEventsNothingIsKept(t *testing.T) {
	for _, text := range []string{"", "many"} {
		f := newFixture(t, thin)
		if text != "" {
			f.write(t, filepath.Join(f.sys, "kernel", "uevent_seqnum"), text)
		}
		c := NewCache(f.FS(), 64)
		first := volume(t, c, number(253, 5))
		f.write(t, f.dir(number(253, 5))+"/dm/name", "vg0-new")
		if second := volume(t, c, number(253, 5)); first != "vg0/pvc-1" || second != "vg0/new" {
			t.Errorf("%s, %s", first, second)
		}
	}
}

// md adds and removes disks without an event.
func TestWhatIsNotAnnouncedIsNotKept(t *testing.T) {
	f := newFixture(t, "9:0 md0 level=raid1 > 8:0\n8:0 sda\n8:16 sdb\n7:0 loop0 file=/x\nioctl loop0 error=stuck")
	f.announce(t, 1)
	c := NewCache(f.FS(), 64)
	if got := resolve(t, c, "chain 9:0"); !strings.Contains(got, "physical: sda\n") {
		t.Fatal(got)
	}
	f.link(t, f.dir(number(8, 16)), f.dir(number(9, 0))+"/slaves/sdb")
	if got := resolve(t, c, "chain 9:0"); !strings.Contains(got, "physical: sda sdb\n") {
		t.Error(got)
	}
	if got := resolve(t, c, "chain 7:0"); !strings.Contains(got, "unknown: loop0: stuck") {
		t.Fatal(got)
	}
	f.ioctl(t, "loop0", []string{"file=8:0"})
	if got := resolve(t, c, "chain 7:0"); !strings.Contains(got, "physical: sda\n") {
		t.Error(got)
	}
}

// An event while a chain is read: what was read before it is not kept for
// after it.
func TestAnEventDuringTheReadingIsNotLost(t *testing.T) {
	f := newFixture(t, onLoop)
	f.announce(t, 1)
	c := NewCache(f.FS(), 64)
	f.loops["loop0"] = func() (LoopStatus, error) {
		f.write(t, f.dir(number(253, 1))+"/dm/name", "renamed") // already read
		f.announce(t, 2)
		return LoopStatus{File: number(253, 0)}, nil
	}
	first, err := c.Chain(number(253, 1))
	if err != nil || first.Layers[0].DMName != "luks" {
		t.Fatalf("%+v %v", first, err)
	}
	if second, err := c.Chain(number(253, 1)); err != nil || second.Layers[0].DMName != "renamed" {
		t.Errorf("%+v %v", second, err)
	}
}

// Another chain is read after the event before this one is done: what this one
// read is older than what is kept by then.
func TestWhatWasReadBeforeAnEventIsNotKeptBesideWhatWasReadAfter(t *testing.T) {
	f := newFixture(t, onLoop)
	f.announce(t, 1)
	c := NewCache(f.FS(), 64)
	asked := 0
	f.loops["loop0"] = func() (LoopStatus, error) {
		if asked++; asked == 1 {
			f.write(t, f.dir(number(7, 0))+"/loop/backing_file", "/new") // already read
			f.announce(t, 2)
			if _, err := c.Chain(number(8, 0)); err != nil {
				t.Error(err)
			}
		}
		return LoopStatus{File: number(253, 0)}, nil
	}
	for _, want := range []string{"/img", "/new", "/new"} {
		if chain, err := c.Chain(number(7, 0)); err != nil || chain.Layers[0].Note != want {
			t.Errorf("%+v %v, want %s", chain, err, want)
		}
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

// What is kept leads to a device that is not there, and the event is still to
// come: the node is read, not the cache once more.
func TestAMissingDeviceIsLookedForOnTheNode(t *testing.T) {
	f := newFixture(t, "253:0 dm-0 dm=luks uuid=CRYPT-LUKS2-0-luks > 9:0\n9:0 md0 level=raid1 > 8:0\n8:0 sda\n")
	f.announce(t, 1)
	c := NewCache(f.FS(), 64)
	if got := resolve(t, c, "chain 253:0"); !strings.Contains(got, "md0") {
		t.Fatal(got)
	}
	f.remove(t, number(9, 0))
	f.remove(t, number(253, 0))
	f.device(t, number(253, 0), []string{"dm=vg0-new", "uuid=LVM-{vg0}{new}", ">", "8:0"})
	if got := volume(t, c, number(253, 0)); got != "vg0/new" {
		t.Error(got)
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	var text strings.Builder
	for i := range 50 {
		fmt.Fprintf(&text, "8:%d sd%d\n", i, i)
	}
	f := newFixture(t, text.String())
	f.announce(t, 1)
	for _, most := range []int{0, 1, 16} {
		c := NewCache(f.FS(), most)
		for n := range f.names {
			if _, err := c.Chain(n); err != nil {
				t.Fatal(err)
			}
			if len(c.layers) > most {
				t.Fatalf("%d devices are kept, want %d at most", len(c.layers), most)
			}
		}
	}
}

func TestWhatTheCacheTellsIsTheCallersOwn(t *testing.T) {
	f := newFixture(t, thin)
	f.announce(t, 1)
	c := NewCache(f.FS(), 64)
	want := resolve(t, f.FS(), "chain 253:5")
	for range 2 { // read, and then kept
		chain, err := c.Chain(number(253, 5))
		if err != nil {
			t.Fatal(err)
		}
		chain.Layers[0].LV.LV = "spoilt"
		chain.Layers[1].Lower[0] = facts.DeviceNumber{}
		if got := resolve(t, c, "chain 253:5"); got != want {
			t.Errorf("it has changed:\n%s", got)
		}
	}
}

func TestTheCacheIsSafeForConcurrentUse(t *testing.T) {
	f := newFixture(t, thin)
	f.announce(t, 0)
	c := NewCache(f.FS(), 4)
	want := resolve(t, f.FS(), "chain 253:5")
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for range 50 {
				chain, err := c.Chain(number(253, 5))
				if err != nil || show(chain) != want {
					t.Errorf("%v:\n%s", err, show(chain))
				}
			}
		})
	}
	path := filepath.Join(f.sys, "kernel", "uevent_seqnum")
	for i := range 50 { // sysfs is never seen half written
		f.write(t, path+".new", fmt.Sprint(i))
		if err := os.Rename(path+".new", path); err != nil {
			t.Error(err)
		}
	}
	readers.Wait()
}

// What a moment tells is of the count of events it was made at, however many
// chains are asked of it, and no older.
func TestAMomentIsOfTheCountItWasMadeAt(t *testing.T) {
	f := newFixture(t, thin+"8:32 sdc\n")
	f.announce(t, 1)
	c := NewCache(f.FS(), 64)
	then := c.Moment()
	name := func(m *Moment) string {
		t.Helper()
		chain, err := m.Chain(number(253, 5))
		if err != nil {
			t.Fatal(err)
		}
		return chain.Answer().Why
	}
	if got := name(then); got != "vg0/pvc-1" {
		t.Fatal(got)
	}
	f.write(t, f.dir(number(253, 5))+"/dm/name", "vg0-new")
	f.announce(t, 2)
	if got := name(then); got != "vg0/pvc-1" {
		t.Errorf("the moment has passed: %s, want what it was", got)
	}
	if got := name(c.Moment()); got != "vg0/new" {
		t.Errorf("now: %s", got)
	}
	// By now the cache is of a later count. What the old moment has to read it
	// reads, and keeps none of it.
	if got := name(then); got != "vg0/new" {
		t.Errorf("read by the old moment: %s", got)
	}
	if _, err := then.Chain(number(8, 32)); err != nil {
		t.Fatal(err)
	}
	if _, kept := c.layers[number(8, 32)]; kept {
		t.Error("what was read for an old count is kept for a new one")
	}
}

func TestAMomentResolvesWhatItsCacheDoes(t *testing.T) {
	f := newFixture(t, thin+"btrfs "+fsid+" 253:5 8:0")
	f.announce(t, 1)
	c := NewCache(f.FS(), 64)
	for _, question := range []string{"chain 253:5", "btrfs " + fsid + " 2", "chain 9:9"} {
		if got, want := resolve(t, c.Moment(), question), resolve(t, f.FS(), question); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", question, got, want)
		}
	}
}
