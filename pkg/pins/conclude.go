package pins

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/target"
)

// conclude answers whether the file system is alive, counts what is explained
// and says what can still hold it.
func (s *search) conclude(r *Report) {
	r.Alive = s.alive(r)
	s.count(r)
	if !r.missing() {
		r.Suspects = nil
		return
	}
	s.suspect(r)
}

// alive answers whether any of the target's superblocks exists.
func (s *search) alive(r *Report) facts.Answer {
	if r.Target.NS != "" {
		if len(r.Holders) > 0 {
			return facts.Is(true, "something holds it")
		}
		return facts.CannotTell("the kernel does not list namespaces by their number")
	}
	no := 0
	why := ""
	for _, sb := range r.Target.Superblocks {
		a := s.superblock(r, sb)
		switch a.Truth {
		case facts.Yes:
			return a
		case facts.No:
			no++
		case facts.Unknown:
		}
		why = a.Why
	}
	if no > 0 && no == len(r.Target.Superblocks) {
		return facts.Is(false, why)
	}
	if why == "" {
		why = "no file system of it is known"
	}
	return facts.CannotTell(why)
}

// superblock answers whether one superblock exists: by the directory that its
// type has for it in sysfs until the last holder lets go, or by a mount.
func (s *search) superblock(r *Report, sb target.Superblock) facts.Answer {
	for _, h := range r.Holders {
		for _, m := range h.Mounts {
			if m.Device == sb.Device && (h.Kind == KindMount || h.Kind == KindNamespaceFile) {
				return facts.Is(true, fmt.Sprintf("mount %d of mnt:[%d]", m.ID, h.Namespace))
			}
		}
	}
	types, name, fsType := []string{"ext4", "xfs", "f2fs"}, sb.Name, cmp.Or(sb.FSType, s.udevType(sb))
	if sb.BtrfsID != "" {
		types, name = []string{"btrfs"}, sb.BtrfsID
	}
	if name == "" {
		return facts.CannotTell("it is mounted nowhere that was seen, and no device of this number is there")
	}
	for _, t := range types {
		dir := "/fs/" + t + "/" + name
		_, err := os.Stat(filepath.Join(s.Sys, dir))
		switch {
		case err == nil:
			return facts.Is(true, "/sys"+dir+" exists")
		case !errors.Is(err, fs.ErrNotExist):
			return facts.CannotTell(err.Error())
		}
	}
	if slices.Contains(types, fsType) || sb.BtrfsID != "" {
		return facts.Is(false, fmt.Sprintf("/sys/fs/%s/%s is gone", fsType, name))
	}
	return facts.CannotTell(fmt.Sprintf("neither ext4, xfs nor f2fs has %s in /sys/fs, and other types leave no sign there", name))
}

// udevType is the type of a device's file system as udev has it, which looked
// when the device came: "" where it does not tell.
func (s *search) udevType(sb target.Superblock) string {
	text, err := s.Host.ReadFile(s.ctx, fmt.Sprintf("/run/udev/data/b%s", sb.Device), maxFile)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if fsType, ok := strings.CutPrefix(line, "E:ID_FS_TYPE="); ok {
			return strings.TrimSpace(fsType)
		}
	}
	return ""
}

// count compares how often the device is open with what was found.
func (s *search) count(r *Report) {
	number := r.Target.Block
	if s.Opens == nil || number.IsZero() || r.Target.Chain == nil {
		return
	}
	top := r.Target.Chain.Layers[0]
	if top.DMName == "" {
		return
	}
	n, err := s.Opens(number)
	if err != nil {
		r.Notes = append(r.Notes, "how often the device is open cannot be told: "+err.Error())
		return
	}
	r.Open = &OpenCount{Count: n, Show: "dmsetup info -c -o name,open " + Quote(top.DMName)}
	if i := slices.IndexFunc(r.Target.Superblocks, func(sb target.Superblock) bool { return sb.Device == number }); i >= 0 {
		if s.superblock(r, r.Target.Superblocks[i]).Truth == facts.Yes || btrfsAlive(r) {
			r.Open.Explained++ // a file system opens its device once
		}
	}
	for i := range r.Holders {
		if h := &r.Holders[i]; h.on == number {
			r.Open.Explained += max(1, len(h.Files)+h.FilesOmitted)
		}
	}
}

// btrfsAlive reports that a btrfs is mounted that has the target for a device.
func btrfsAlive(r *Report) bool {
	return slices.ContainsFunc(r.Target.Superblocks, func(sb target.Superblock) bool { return sb.BtrfsID != "" })
}

// suspect says what can still hold the target and was not excluded.
func (s *search) suspect(r *Report) {
	add := func(format string, args ...any) { r.Suspects = append(r.Suspects, fmt.Sprintf(format, args...)) }
	if r.Open != nil && r.Open.Count > r.Open.Explained {
		add("the device is open %d times, of which %d are explained (%s)", r.Open.Count, r.Open.Explained, r.Open.Show)
	}
	if len(r.Holders) > 0 {
		return
	}
	for _, line := range s.fstab(r) {
		add("/etc/fstab has %q: systemd mounts it again when the device appears (systemctl list-units --type=mount)", line)
	}
	if s.Census.Rung == "proc" {
		add("a mount namespace that only a descriptor on its way through a socket keeps: kernels before 6.12 do not list it")
	}
	add("a descriptor on its way through a socket, or registered with io_uring: procfs does not show it")
	if r.Target.Chain != nil && r.Target.Chain.Layers[0].Kind != device.Loop {
		add("a user inside the kernel that leaves no link in sysfs, such as drbd (drbdadm status)")
	}
	if len(s.reports) > 0 && s.mounts.unread > 0 {
		add("a mount in one of the %d namespaces that could not be read", s.mounts.unread)
	}
}

// fstab returns the lines of /etc/fstab that name the device, in one of its
// usual spellings.
func (s *search) fstab(r *Report) []string {
	text, err := s.Host.ReadFile(s.ctx, "/etc/fstab", maxFile)
	if err != nil || r.Target.Chain == nil {
		return nil
	}
	top := r.Target.Chain.Layers[0]
	names := []string{"/dev/" + top.Name}
	if top.DMName != "" {
		names = append(names, "/dev/mapper/"+top.DMName)
	}
	if top.LV != nil {
		names = append(names, "/dev/"+top.LV.String())
	}
	return fstabLines(string(text), names)
}
