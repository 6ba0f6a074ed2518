//go:build linux

package guest

// layeredKinds are volumes below and on other devices.
func layeredKinds() []kind {
	return []kind{
		{"LUKS on a volume", func(s *stack) []string {
			return []string{s.filled("ext4", s.luks("secret", s.lv("vg0/data", "--size", "32M")))}
		}, []told{{"vg0/data", `
			* secret crypt > vg0-data # luks2
			a loop > vda
			vda disk
			vg0-data lv vg0/data > a
			`, `
			lsblk ends at a
			`}}},
		{"a volume on LUKS", func(s *stack) []string {
			s.vg("vg1", s.luks("disk", s.loop("c", 64)))
			return []string{s.filled("ext4", s.lv("vg1/data", "--size", "16M"))}
		}, []told{{"vg1/data", `
			* vg1-data lv vg1/data > disk
			c loop > vda
			disk crypt > c # luks2
			vda disk
			`, `
			lsblk ends at c
			`}}},
		{"a volume on a partition", func(s *stack) []string {
			s.vg("vg1", s.partition("c", 64))
			return []string{s.filled("ext4", s.lv("vg1/data", "--size", "16M"))}
		}, []told{{"vg1/data", `
			* vg1-data lv vg1/data > cp1
			c loop > vda
			cp1 partition > c
			vda disk
			`, `
			lsblk ends at c
			`}}},
		{"a volume on multipath", func(s *stack) []string {
			s.vg("vg1", s.multipath("mpatha"))
			return []string{s.filled("ext4", s.lv("vg1/data", "--size", "16M"))}
		}, []told{{"vg1/data", `
			* vg1-data lv vg1/data > mpatha
			mpatha multipath > path1 path2
			path1 disk
			path2 disk
			`, ``}}},
		{"multipath alone", func(s *stack) []string {
			return []string{s.filled("ext4", s.multipath("mpatha"))}
		}, []told{{"", `
			* mpatha multipath > path1 path2
			path1 disk
			path2 disk
			`, ``}}},
		{"RAID of two volumes", func(s *stack) []string {
			return []string{s.filled("ext4", s.md("m", s.lv("vg0/one", "--size", "16M"), s.lv("vg0/two", "--size", "16M")))}
		}, []told{{"vg0/one vg0/two", `
			* m md > vg0-one vg0-two # raid1
			a loop > vda
			vda disk
			vg0-one lv vg0/one > a
			vg0-two lv vg0/two > a
			`, `
			lsblk ends at a
			`}}},
		{"RAID without LVM", func(s *stack) []string {
			return []string{s.filled("ext4", s.md("m", s.loop("c", 16), s.loop("d", 16)))}
		}, []told{{"", `
			* m md > c d # raid1
			c loop > vda
			d loop > vda
			vda disk
			`, `
			lsblk ends at c
			lsblk ends at d
			`}}},
		{"bcache of two volumes", func(s *stack) []string {
			return []string{s.filled("ext4", s.bcache(s.lv("vg0/slow", "--size", "32M"), s.lv("vg0/fast", "--size", "128M")))}
		}, []told{{"vg0/fast vg0/slow", `
			* bcache0 bcache > vg0-fast vg0-slow
			a loop > vda
			vda disk
			vg0-fast lv vg0/fast > a
			vg0-slow lv vg0/slow > a
			`, `
			lsblk calls bcache0 disk, not bcache
			lsblk ends at a
			`}}},
		{"a loop device on a volume", func(s *stack) []string {
			return []string{s.filled("ext4", s.loop("block", 0, s.lv("vg0/data", "--size", "16M")))}
		}, []told{{"vg0/data", `
			* block loop > vg0-data
			a loop > vda
			vda disk
			vg0-data lv vg0/data > a
			`, `
			lsblk ends at block
			`}}},
		{"a file on a volume", func(s *stack) []string {
			dir := s.filled("ext4", s.lv("vg0/data", "--size", "64M"))
			return []string{s.filled("ext4", s.loop("file", 0, s.file(dir, 16)))}
		}, []told{{"vg0/data", `
			* file loop > vg0-data
			a loop > vda
			vda disk
			vg0-data lv vg0/data > a
			`, `
			lsblk ends at file
			`}}},
		{"the device of a volume", func(s *stack) []string {
			return []string{s.lv("vg0/data", "--size", "16M")}
		}, []told{{"vg0/data", `
			* vg0-data lv vg0/data > a
			a loop > vda
			vda disk
			`, `
			lsblk ends at a
			`}}},
	}
}
