package device

import (
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux"
)

// Cache resolves like its FS and keeps what it read for as long as the kernel
// has announced no change of any device. It is safe for concurrent use.
//
// What is kept is valid for one value of <sys>/kernel/uevent_seqnum, which
// counts every device that is added, removed, renamed, bound or given another
// device-mapper table (drivers/md/dm-ioctl.c: rename, resume, remove). A number
// that another device has now is so a miss; and a renamed volume, or one whose
// data pvmove took elsewhere, as well, though it has its number, its uuid and
// its diskseq still. The price is that network devices and the like are counted
// too: between two containers' starts nearly everything is read again.
type Cache struct {
	fs   FS
	size int

	mu     sync.Mutex
	events uint64 // the count that layers are of
	layers map[facts.DeviceNumber]Layer
}

// NewCache returns an empty cache that keeps so many devices at most.
func NewCache(fs FS, size int) *Cache {
	return &Cache{fs: fs, size: size, layers: map[facts.DeviceNumber]Layer{}}
}

// Chain is FS.Chain.
func (c *Cache) Chain(number facts.DeviceNumber) (Chain, error) { return c.Moment().Chain(number) }

// Btrfs is FS.Btrfs. The list of the file system's own devices is always read.
func (c *Cache) Btrfs(fsid string, count int) (Chain, error) { return c.Moment().Btrfs(fsid, count) }

// BtrfsByStatfs is FS.BtrfsByStatfs. Which file systems there are is always
// read.
func (c *Cache) BtrfsByStatfs(folded [2]uint32, subvolume uint64) (Chain, error) {
	return c.Moment().BtrfsByStatfs(folded, subvolume)
}

// reader reads devices for one moment. The count is taken before, so that a
// device which changes meanwhile is kept for the old count: it is read again.
func (c *Cache) reader() reader {
	events, err := c.fs.events()
	if err != nil {
		return c.fs.layer
	}
	return func(number facts.DeviceNumber) (Layer, error) {
		if l, ok := c.get(number, events); ok {
			return l, nil
		}
		l, err := c.fs.layer(number)
		if err == nil && l.announced() {
			c.put(l, events)
		}
		return l, err
	}
}

func (c *Cache) get(number facts.DeviceNumber, events uint64) (Layer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.events != events {
		return Layer{}, false
	}
	l, ok := c.layers[number]
	return l.clone(), ok
}

// put keeps a device. One that was read before the last change is not kept.
func (c *Cache) put(l Layer, events uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case events < c.events:
		return
	case events > c.events, len(c.layers) >= c.size:
		c.events, c.layers = events, map[facts.DeviceNumber]Layer{}
	}
	if c.size > 0 {
		c.layers[l.Number] = l.clone()
	}
}

// announced reports whether the kernel announces every change of what was read
// of the device. md and other drivers add and remove disks without a word, and
// what could not be told is asked again.
func (l Layer) announced() bool {
	return l.Unknown == "" && (l.DMName != "" || l.Kind == Loop || l.Kind == Partition || l.Kind == Disk && len(l.Lower) == 0)
}

// events returns how many changes of devices the kernel has announced.
func (f FS) events() (uint64, error) {
	text, err := linux.ReadAttribute(nil, filepath.Join(f.Sys, "kernel", "uevent_seqnum"))
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSuffix(text, "\n"), 10, 64)
}
