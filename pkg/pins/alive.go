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

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/target"
)

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
		a := s.superblock(sb)
		switch a.Truth {
		case facts.Yes:
			return a
		case facts.No:
			no++
		case facts.Unknown:
		}
		if a.Truth == facts.Unknown || why == "" {
			why = a.Why
		}
	}
	if no > 0 && no == len(r.Target.Superblocks) {
		return facts.Is(false, why)
	}
	return facts.CannotTell(cmp.Or(why, "no file system of it is known"))
}

// dead reports that none of a target's superblocks exists.
func (s *search) dead(target int) bool { return s.alive(&s.reports[target]).Truth == facts.No }

// superblock answers whether one superblock exists: by a mount, or by the
// directory that its type has for it in sysfs until the last holder lets go.
func (s *search) superblock(sb target.Superblock) facts.Answer {
	if a, ok := s.supers[sb]; ok {
		return a
	}
	a := s.superblockNow(sb)
	s.supers[sb] = a
	return a
}

func (s *search) superblockNow(sb target.Superblock) facts.Answer {
	if m, ok := s.mounts.of[sb.Device]; ok {
		return facts.Is(true, fmt.Sprintf("mount %d of mnt:[%d]", m.id, m.namespace))
	}
	if sb.BtrfsID != "" {
		return s.inSysfs("btrfs", sb.BtrfsID, true)
	}
	if sb.Name == "" {
		return facts.CannotTell("it is mounted nowhere, and no device has its number")
	}
	types, err := os.ReadDir(filepath.Join(s.Sys, "fs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return facts.CannotTell(err.Error())
	}
	for _, t := range types {
		if noType(t.Name()) {
			continue
		}
		if a := s.inSysfs(t.Name(), sb.Name, false); a.Truth != facts.No {
			return a
		}
	}
	return s.withoutSign(sb)
}

// inSysfs answers whether a type of file systems has a directory of that name.
func (s *search) inSysfs(fsType, name string, only bool) facts.Answer {
	dir := "/fs/" + fsType + "/" + name
	_, err := os.Stat(filepath.Join(s.Sys, dir))
	switch {
	case err == nil:
		return facts.Is(true, "/sys"+dir+" exists")
	case !errors.Is(err, fs.ErrNotExist):
		return facts.CannotTell(err.Error())
	case only:
		return facts.Is(false, "/sys"+dir+" is gone")
	default:
		return facts.Is(false, "no file system has "+name+" in /sys/fs")
	}
}

// noType reports the directories of /sys/fs that are no types of file systems on
// block devices: somebody can make directories of any name in these.
func noType(name string) bool {
	switch name {
	case "bpf", "cgroup", "fuse", "pstore", "resctrl", "selinux", "smackfs":
		return true
	}
	return false
}

// signed reports the types that have a directory named for the device in sysfs as
// long as one is alive; ext4 also drives ext2 and ext3. Source: Linux 6.18
// fs/{ext4,xfs,f2fs,erofs,nilfs2}/sys*.c; measured of the first four.
func signed(fsType string) bool {
	switch fsType {
	case "ext3", "ext4", "xfs", "f2fs", "btrfs", "nilfs2":
		return true
	}
	return false
}

// withoutSign judges a device that no type has in sysfs: the superblock is gone
// where its type would have it there, or every type that can be on a device.
func (s *search) withoutSign(sb target.Superblock) facts.Answer {
	others, why := s.unsigned()
	if why == "" && len(others) == 0 {
		return facts.Is(false, "no file system has "+sb.Name+" in /sys/fs, and all types that the kernel has would")
	}
	fsType, by := cmp.Or(sb.FSType, s.udev(sb, "ID_FS_TYPE")), "the type of it by udev or the host"
	if fsType == "" && s.FSType != nil && !strings.HasPrefix(sb.Name, "dm-") { // how often those are open is known
		var err error
		if fsType, err = s.FSType(sb.Name); err != nil {
			why = err.Error()
		}
		by = "what is on it"
	}
	switch {
	case fsType == "":
		why = cmp.Or(why, "not all types leave a sign there: "+strings.Join(others[:min(len(others), 4)], ", "))
		return facts.CannotTell(fmt.Sprintf("no file system has %s in /sys/fs, and of which type it is is not known: %s", sb.Name, why))
	case signed(fsType), s.erofsSigned(fsType), why == "" && !slices.Contains(others, fsType):
		return facts.Is(false, fmt.Sprintf("no file system has %s in /sys/fs, where %s (%s) would have it", sb.Name, fsType, by))
	default:
		return facts.CannotTell(fmt.Sprintf("no file system has %s in /sys/fs, where %s (%s) leaves no sign", sb.Name, fsType, by))
	}
}

// erofsSigned reports that erofs leaves a sign, as it does since Linux 5.17.
func (s *search) erofsSigned(fsType string) bool {
	_, err := os.Stat(filepath.Join(s.Sys, "fs", "erofs"))
	return fsType == "erofs" && err == nil
}

// unsigned are the types of file systems on block devices that the kernel has
// now and that leave no sign in sysfs. A type that is in use is listed.
func (s *search) unsigned() (others []string, why string) {
	all, there, err := s.lines("filesystems")
	switch {
	case err != nil:
		return nil, err.Error()
	case !there:
		return nil, "there is no /proc/filesystems"
	}
	if len(strings.TrimSpace(strings.Join(all, ""))) == 0 {
		return nil, "/proc/filesystems is empty"
	}
	for _, line := range all {
		fsType := strings.TrimSpace(line)
		if strings.HasPrefix(line, "nodev") || fsType == "" || signed(fsType) || s.erofsSigned(fsType) {
			continue
		}
		others = append(others, fsType)
	}
	return others, ""
}

// udev is a property of a device as udev has it, which looked when the device
// came and when it was last written: "" where it does not tell.
func (s *search) udev(sb target.Superblock, property string) string {
	text, err := s.Host.ReadFile(s.ctx, fmt.Sprintf("/run/udev/data/b%s", sb.Device), maxFile)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "E:"+property+"="); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
