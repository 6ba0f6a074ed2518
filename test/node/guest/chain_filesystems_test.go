//go:build linux

package guest

import (
	"os"
	"path/filepath"
)

// fileSystemKinds are file systems whose superblock has no device number of a
// device.
func fileSystemKinds() []kind {
	return []kind{
		{"btrfs and a subvolume of it", func(s *stack) []string {
			dir := s.filled("btrfs", s.lv("vg0/data", "--size", "128M"))
			sub := filepath.Join(dir, "sub")
			s.do("btrfs", "subvolume", "create", sub)
			at := filepath.Join(s.TempDir(), "bind")
			if err := os.Mkdir(at, 0o755); err != nil {
				s.Fatal(err)
			}
			s.bind(sub, at)
			return []string{dir, at}
		}, []told{{"vg0/data", `
			* vg0-data lv vg0/data > a
			a loop > vda
			vda disk
			`, `
			findmnt's MAJ:MIN is no device
			lsblk ends at a
			`}, {"vg0/data", `
			* vg0-data lv vg0/data > a
			a loop > vda
			vda disk
			`, `
			findmnt's MAJ:MIN is no device
			findmnt's SOURCE is no device node: it ends in [/sub]
			lsblk ends at a
			`}}},
		{"btrfs on two volumes", func(s *stack) []string {
			one, two := s.lv("vg0/one", "--size", "128M"), s.lv("vg0/two", "--size", "128M")
			s.do("mkfs.btrfs", "-q", "-f", "-m", "raid1", one, two)
			return []string{s.mount("btrfs", two, "")}
		}, []told{{"vg0/one vg0/two", `
			* vg0-one lv vg0/one > a
			* vg0-two lv vg0/two > a
			a loop > vda
			vda disk
			`, `
			findmnt is silent about vg0-two
			findmnt's MAJ:MIN is no device
			lsblk ends at a
			`}}},
		{"memory", func(s *stack) []string {
			return []string{s.mount("tmpfs", "none", "")}
		}, []told{{"", ``, ``}}},
	}
}
