package device

import "github.com/mountward/mountward/pkg/facts"

// Moment resolves like its Cache, and asks only once whether the kernel has
// announced changes: when it was made. It is for the chains of one container
// or of one survey. It is safe for concurrent use.
type Moment struct {
	fs   FS
	read reader
}

// Moment returns what resolves as of now.
func (c *Cache) Moment() *Moment { return &Moment{c.fs, c.reader()} }

// Chain is FS.Chain.
func (m *Moment) Chain(number facts.DeviceNumber) (Chain, error) {
	return single(number, m.read, m.fs.layer)
}

// Btrfs is FS.Btrfs. The list of the file system's own devices is always read.
func (m *Moment) Btrfs(fsid string, count int) (Chain, error) {
	return m.fs.btrfs(fsid, count, m.read, m.fs.layer)
}

// BtrfsByStatfs is FS.BtrfsByStatfs. Which file systems there are is always
// read.
func (m *Moment) BtrfsByStatfs(folded [2]uint32, subvolume uint64) (Chain, error) {
	return m.fs.btrfsByStatfs(folded, subvolume, m.read, m.fs.layer)
}
