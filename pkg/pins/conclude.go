package pins

import (
	"fmt"
	"slices"

	"github.com/mountward/mountward/pkg/device"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/shell"
	"github.com/mountward/mountward/pkg/target"
)

// conclude answers whether the file system is alive, counts what is explained
// and says what can still hold it.
func (s *search) conclude(i int) {
	r := &s.reports[i]
	r.Alive = s.alive(r)
	s.count(r)
	if r.Alive.Truth == facts.Unknown && r.free() {
		r.Alive = facts.Is(false, "its device is not open ("+r.Open.Show+")")
	}
	if len(r.Holders) == 0 && r.Alive.Truth == facts.Unknown && nobody(r.Target) {
		s.unknown(i, r.Target.Name, "no such target: no device, no mount table and no process of this node has this number")
		return
	}
	switch {
	case r.free(), len(r.Holders) > 0 && !r.missing():
		r.Suspects = nil
	case r.missing(), r.doubts > 0:
		s.suspect(r)
	case len(r.Holders) == 0 && r.Alive.Truth == facts.Unknown:
		r.Suspects = append(r.Suspects, "something that procfs does not show: whether the file system is alive cannot be told: "+r.Alive.Why)
	}
}

// nobody reports a number that no device and no mount of the host has.
func nobody(t target.Target) bool {
	if len(t.Superblocks) != 1 || t.Superblocks[0].FSType != "" {
		return false
	}
	return t.Kind == target.KindAnonymous || t.Kind == target.KindDevice && t.Chain == nil
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
	r.Open = &OpenCount{Count: n, Show: "dmsetup info -c -o name,open " + shell.Quote(top.DMName)}
	if i := slices.IndexFunc(r.Target.Superblocks, func(sb target.Superblock) bool { return sb.Device == number }); i >= 0 {
		if s.superblock(r.Target.Superblocks[i]).Truth == facts.Yes || btrfsAlive(r) {
			r.Open.Explained++ // a file system opens its device once
		}
	}
	for i := range r.Holders {
		if h := &r.Holders[i]; h.on == number {
			r.Open.Explained += max(1, h.opens, len(h.Files)+h.FilesOmitted)
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
	if more := r.doubts - maxDoubts; more > 0 {
		add("%d more overlays", more)
	}
	if len(r.Holders) > 0 {
		return
	}
	for _, line := range s.fstab(r) {
		add("/etc/fstab has %q: systemd mounts it again when the device appears (systemctl list-units --type=mount)", line)
	}
	if s.Census.Rung == "proc" {
		add("a mount namespace that only a descriptor on its way through a socket keeps: only the kernel's own list has it (Linux 6.12, for root in the host's pid namespace)")
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
