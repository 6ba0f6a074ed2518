//go:build linux

package guest

import (
	"os/exec"
	"testing"
)

// volumeKinds are the kinds of logical volumes.
func volumeKinds() []kind {
	return []kind{
		{"linear xfs", func(s *stack) []string {
			return []string{s.filled("xfs", s.lv("vg0/data", "--size", "320M"))}
		}, []told{{"vg0/data", `
			* vg0-data lv vg0/data > a
			a loop > vda
			vda disk
			`, `
			lsblk ends at a
			`}}},
		{"linear ext4", func(s *stack) []string {
			return []string{s.filled("ext4", s.lv("vg0/data", "--size", "16M"))}
		}, []told{{"vg0/data", `
			* vg0-data lv vg0/data > a
			a loop > vda
			vda disk
			`, `
			lsblk ends at a
			`}}},
		{"thin", func(s *stack) []string {
			s.lv("vg0/pool", "--type", "thin-pool", "--size", "64M")
			return []string{s.filled("ext4", s.lv("vg0/data", "--thinpool", "pool", "--virtualsize", "128M"))}
		}, []told{{"vg0/data", `
			* vg0-data lv vg0/data > vg0-pool-tpool
			a loop > vda
			b loop > vda
			vda disk
			vg0-pool-tpool lv-layer vg0/pool [tpool] > vg0-pool_tdata vg0-pool_tmeta
			vg0-pool_tdata lv-layer vg0/pool_tdata [tdata] > a
			vg0-pool_tmeta lv-layer vg0/pool_tmeta [tmeta] > b
			`, `
			lsblk ends at a
			lsblk ends at b
			lvs is silent about vg0-data on vg0-pool-tpool
			lvs is silent about vg0-pool-tpool
			`}}},
		{"raid1", func(s *stack) []string {
			return []string{s.filled("ext4", s.lv("vg0/data", "--type", "raid1", "--mirrors", "1", "--size", "16M"))}
		}, []told{{"vg0/data", `
			* vg0-data lv vg0/data > vg0-data_rimage_0 vg0-data_rimage_1 vg0-data_rmeta_0 vg0-data_rmeta_1
			a loop > vda
			b loop > vda
			vda disk
			vg0-data_rimage_0 lv-layer vg0/data_rimage_0 [rimage] > a
			vg0-data_rimage_1 lv-layer vg0/data_rimage_1 [rimage] > b
			vg0-data_rmeta_0 lv-layer vg0/data_rmeta_0 [rmeta] > a
			vg0-data_rmeta_1 lv-layer vg0/data_rmeta_1 [rmeta] > b
			`, `
			lsblk ends at a
			lsblk ends at b
			lvs is silent about vg0-data on vg0-data_rmeta_0 vg0-data_rmeta_1
			`}}},
		{"raid1 with integrity", func(s *stack) []string {
			return []string{s.filled("ext4", s.lv("vg0/data", "--type", "raid1", "--raidintegrity", "y", "--mirrors", "1", "--size", "16M"))}
		}, []told{{"vg0/data", `
			* vg0-data lv vg0/data > vg0-data_rimage_0 vg0-data_rimage_1 vg0-data_rmeta_0 vg0-data_rmeta_1
			a loop > vda
			b loop > vda
			vda disk
			vg0-data_rimage_0 lv-layer vg0/data_rimage_0 [rimage] > vg0-data_rimage_0_imeta vg0-data_rimage_0_iorig
			vg0-data_rimage_0_imeta lv-layer vg0/data_rimage_0_imeta [imeta] > a
			vg0-data_rimage_0_iorig lv-layer vg0/data_rimage_0_iorig [iorig] > a
			vg0-data_rimage_1 lv-layer vg0/data_rimage_1 [rimage] > vg0-data_rimage_1_imeta vg0-data_rimage_1_iorig
			vg0-data_rimage_1_imeta lv-layer vg0/data_rimage_1_imeta [imeta] > b
			vg0-data_rimage_1_iorig lv-layer vg0/data_rimage_1_iorig [iorig] > b
			vg0-data_rmeta_0 lv-layer vg0/data_rmeta_0 [rmeta] > a
			vg0-data_rmeta_1 lv-layer vg0/data_rmeta_1 [rmeta] > b
			`, `
			lsblk ends at a
			lsblk ends at b
			lvs is silent about vg0-data on vg0-data_rmeta_0 vg0-data_rmeta_1
			lvs is silent about vg0-data_rimage_0 on vg0-data_rimage_0_imeta
			lvs is silent about vg0-data_rimage_1 on vg0-data_rimage_1_imeta
			`}}},
		{"snapshot and its origin", func(s *stack) []string {
			device := s.lv("vg0/data", "--size", "320M")
			origin := s.filled("xfs", device)
			s.do("lvcreate", "--quiet", "--yes", "--snapshot", "--name", "snap", "--size", "16M", "vg0/data")
			s.undo("lvremove", "--quiet", "--yes", "vg0/snap")
			return []string{origin, s.mount("xfs", "/dev/vg0/snap", "nouuid")}
		}, []told{{"vg0/data", `
			* vg0-data lv vg0/data > vg0-data-real
			a loop > vda
			vda disk
			vg0-data-real lv-layer vg0/data [real] > a
			`, `
			lsblk ends at a
			lvs has vg0-data on a
			lvs is silent about vg0-data on vg0-data-real
			lvs is silent about vg0-data-real
			`}, {"vg0/snap", `
			* vg0-snap lv vg0/snap > vg0-data-real vg0-snap-cow
			a loop > vda
			vda disk
			vg0-data-real lv-layer vg0/data [real] > a
			vg0-snap-cow lv-layer vg0/snap [cow] > a
			`, `
			lsblk ends at a
			lvs has vg0-snap on a
			lvs is silent about vg0-data-real
			lvs is silent about vg0-snap on vg0-data-real vg0-snap-cow
			lvs is silent about vg0-snap-cow
			`}}},
		{"cache with a pool", func(s *stack) []string {
			device := s.lv("vg0/data", "--size", "64M")
			s.do("lvcreate", "--quiet", "--yes", "--type", "cache-pool", "--name", "fast", "--size", "16M", "vg0")
			s.do("lvconvert", "--quiet", "--yes", "--type", "cache", "--cachepool", "fast", "vg0/data")
			return []string{s.filled("ext4", device)}
		}, []told{{"vg0/data", `
			* vg0-data lv vg0/data > vg0-data_corig vg0-fast_cpool_cdata vg0-fast_cpool_cmeta
			a loop > vda
			vda disk
			vg0-data_corig lv-layer vg0/data_corig [corig] > a
			vg0-fast_cpool_cdata lv-layer vg0/fast_cpool_cdata [cdata] > a
			vg0-fast_cpool_cmeta lv-layer vg0/fast_cpool_cmeta [cmeta] > a
			`, `
			lsblk ends at a
			lvs is silent about vg0-data on vg0-fast_cpool_cdata vg0-fast_cpool_cmeta
			`}}},
		{"cache with a volume", func(s *stack) []string {
			device := s.lv("vg0/data", "--size", "64M")
			s.do("lvcreate", "--quiet", "--yes", "--name", "fast", "--size", "16M", "vg0")
			s.do("lvconvert", "--quiet", "--yes", "--type", "cache", "--cachevol", "fast", "vg0/data")
			return []string{s.filled("ext4", device)}
		}, []told{{"vg0/data", `
			* vg0-data lv vg0/data > vg0-data_corig vg0-fast_cvol-cdata vg0-fast_cvol-cmeta
			a loop > vda
			vda disk
			vg0-data_corig lv-layer vg0/data_corig [corig] > a
			vg0-fast_cvol lv-layer vg0/fast_cvol [cvol] > a
			vg0-fast_cvol-cdata lv-layer vg0/fast_cvol [cdata] > vg0-fast_cvol
			vg0-fast_cvol-cmeta lv-layer vg0/fast_cvol [cmeta] > vg0-fast_cvol
			`, `
			lsblk ends at a
			lvs is silent about vg0-data on vg0-fast_cvol-cdata vg0-fast_cvol-cmeta
			lvs is silent about vg0-fast_cvol-cdata
			lvs is silent about vg0-fast_cvol-cmeta
			`}}},
		{"writecache", func(s *stack) []string {
			device := s.lv("vg0/data", "--size", "64M")
			s.do("lvcreate", "--quiet", "--yes", "--activate", "n", "--zero", "n", "--wipesignatures", "n", "--name", "fast", "--size", "16M", "vg0")
			s.do("lvconvert", "--quiet", "--yes", "--type", "writecache", "--cachevol", "fast", "vg0/data")
			return []string{s.filled("ext4", device)}
		}, []told{{"vg0/data", `
			* vg0-data lv vg0/data > vg0-data_wcorig vg0-fast_cvol
			a loop > vda
			vda disk
			vg0-data_wcorig lv-layer vg0/data_wcorig [wcorig] > a
			vg0-fast_cvol lv-layer vg0/fast_cvol [cvol] > a
			`, `
			lsblk ends at a
			lvs is silent about vg0-data on vg0-fast_cvol
			`}}},
		{"names with all that LVM allows", func(s *stack) []string {
			s.vg("vg-a.b+c_d", s.loop("c", 64))
			return []string{s.filled("ext4", s.lv("vg-a.b+c_d/pvc-1.x+y_z--w", "--size", "16M"))}
		}, []told{{"vg-a.b+c_d/pvc-1.x+y_z--w", `
			* vg--a.b+c_d-pvc--1.x+y_z----w lv vg-a.b+c_d/pvc-1.x+y_z--w > c
			c loop > vda
			vda disk
			`, `
			lsblk ends at c
			`}}},
		{"a volume as physical volume of another group", func(s *stack) []string {
			const scan = "devices{scan_lvs=1}"
			below := s.lv("vg0/below", "--size", "64M")
			s.do("pvcreate", "--quiet", "--config", scan, below)
			s.do("vgcreate", "--quiet", "--config", scan, "vg1", below)
			s.undo("vgremove", "--quiet", "--force", "--yes", "--config", scan, "vg1")
			s.do("lvcreate", "--quiet", "--yes", "--config", scan, "--name", "data", "--size", "16M", "vg1")
			return []string{s.filled("ext4", "/dev/vg1/data")}
		}, []told{{"vg1/data", `
			* vg1-data lv vg1/data > vg0-below
			a loop > vda
			vda disk
			vg0-below lv vg0/below > a
			`, `
			lsblk ends at a
			lvs is silent about vg1-data
			`}}},
	}
}

// vdoKinds are volumes of LVM's VDO, where the release has its programs; the
// fixtures of pkg/device have such a volume too.
func vdoKinds(t *testing.T) []kind {
	if _, err := exec.LookPath("vdoformat"); err != nil {
		if suite() != "bookworm" {
			t.Fatal(err)
		}
		t.Logf("VDO is not made here: %v", err)
		return nil
	}
	return []kind{
		{"VDO", func(s *stack) []string {
			s.vg("vg1", s.loop("c", 6144)) // the smallest index takes 2.5 GiB, which are not written
			s.do("lvcreate", "--quiet", "--yes", "--type", "vdo", "--size", "4G", "--virtualsize", "64M", "--name", "data",
				"--config", "allocation{vdo_slab_size_mb=128}", "vg1/pool")
			return []string{s.filled("ext4", "/dev/vg1/data")}
		}, []told{{"vg1/data", `
			* vg1-data lv vg1/data > vg1-pool-vpool
			c loop > vda
			vda disk
			vg1-pool-vpool lv-layer vg1/pool [vpool] > vg1-pool_vdata
			vg1-pool_vdata lv-layer vg1/pool_vdata [vdata] > c
			`, `
			lsblk ends at c
			lvs has vg1-data on vg1/pool
			lvs is silent about vg1-data on vg1-pool-vpool
			lvs is silent about vg1-pool-vpool
			`}}},
	}
}
