package pins

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

// TestWhatACopyIsMountedOnDecidesWhetherItGoes when the host unmounts, and not
// its own propagation: the kernel is asked both times.
func TestWhatACopyIsMountedOnDecidesWhetherItGoes(t *testing.T) {
	t.Run("a slave copy on a mount of its own stays", func(t *testing.T) {
		v := newVolume(t)
		dir := filepath.Dir(v.dir)
		mkdir(t, dir+"/data")
		p := start(t, fmt.Sprintf("slave privateat=%[1]s bind=%[2]s:%[1]s/data umount=%[2]s", dir, v.dir))
		for _, why := range []string{"a slave copy: it stays when the host unmounts", "a private copy: it stays, and the host has no mount of it"} {
			r := find(t, v.number.String())
			h := r.Holders[len(r.Holders)-1]
			if !strings.HasPrefix(h.Why, why) || h.Mounts[0].HostMount != 0 || h.Mounts[0].State.Master == 0 && len(r.Holders) == 2 {
				t.Errorf("%s: %+v, want %q", h.Why, h.Mounts, why)
			}
			hasCure(t, h, fmt.Sprintf("umount -N /proc/%d/ns/mnt %s/data", p.Pid, dir))
			if len(r.Holders) == 2 {
				v.unmount(t)
				if !v.alive(t) {
					t.Fatal("it went with the host's mount")
				}
			}
		}
		if err := umountIn(t, p.Pid, dir+"/data"); err != nil || v.alive(t) {
			t.Errorf("the cure did not free it: %v", err)
		}
	})
	t.Run("a private copy below a slave goes", func(t *testing.T) {
		v := newVolume(t)
		p := start(t, "slave privateat="+v.dir)
		r := find(t, v.number.String())
		wantHolders(t, r, "mount host 0", fmt.Sprintf("mount other %d a private copy below a mount that follows the host's: it goes when the host unmounts", p.Pid))
		h := r.Holders[1]
		if h.Mounts[0].HostMount != r.Holders[0].Mounts[0].ID || h.Mounts[0].State != (facts.MountState{}) {
			t.Errorf("%+v", h.Mounts)
		}
		if len(h.Cures) != 1 || h.Cures[0].What != "unmount it on the host" || !strings.HasSuffix(h.Cures[0].Commands[0], " "+v.dir) {
			t.Errorf("cures %+v", h.Cures)
		}
		v.unmount(t)
		if v.alive(t) {
			t.Error("it stayed")
		}
	})
	t.Run("below a slave it stays as long as something is mounted in it", func(t *testing.T) {
		v := newVolume(t)
		mkdir(t, v.dir+"/in")
		start(t, fmt.Sprintf("slave bind=/proc/self/ns:%s/in", v.dir))
		r := find(t, v.number.String())
		if h := r.Holders[len(r.Holders)-1]; h.Mounts[0].HostMount != 0 || !strings.HasPrefix(h.Why, "a slave copy: it stays") {
			t.Errorf("%s: %+v", h.Why, h.Mounts)
		}
		v.unmount(t)
		if !v.alive(t) {
			t.Error("it went with the host's mount")
		}
	})
}

// commands are the commands of all cures.
func commands(h Holder) (all []string) {
	for _, c := range h.Cures {
		all = append(all, c.Commands...)
	}
	return all
}

// TestWhatIsCoveredIsNotUnmountedByItsPath: the path leads to another mount, on
// the host and elsewhere; when that is gone it is offered.
func TestWhatIsCoveredIsNotUnmountedByItsPath(t *testing.T) {
	a := newVolume(t)
	other := linuxtest.Ext4(t)
	if err := syscall.Mount(other, a.dir, "ext4", 0, ""); err != nil {
		t.Fatal(err)
	}
	start(t, "private")
	r := find(t, a.number.String())
	if len(r.Holders) != 2 {
		t.Fatalf("%q", told(r))
	}
	for _, h := range r.Holders {
		if slices.ContainsFunc(commands(h), func(c string) bool { return strings.Contains(c, "umount") }) {
			t.Errorf("%s: harmful cures %q", h.Where, commands(h))
		}
		if !strings.HasPrefix(h.Cures[0].What, "first unmount what covers it: the path "+a.dir+" leads to another mount") || !strings.Contains(h.Mounts[0].Covered, other) {
			t.Errorf("%s: cure %q, covered by %q", h.Where, h.Cures[0].What, h.Mounts[0].Covered)
		}
	}
	for _, h := range find(t, other).Holders {
		if h.Kind == KindMount && (len(commands(h)) == 0 || !strings.HasSuffix(commands(h)[0], " "+a.dir)) {
			t.Errorf("what covers it: cures %q", commands(h))
		}
	}
	if err := syscall.Unmount(a.dir, 0); err != nil {
		t.Fatal(err)
	}
	if h := find(t, a.number.String()).Holders[0]; !strings.HasSuffix(commands(h)[0], " "+a.dir) || h.Mounts[0].Covered != "" {
		t.Errorf("cures %q", commands(h))
	}
}

// TestAVolumeOnItselfIsUnmountedTwice: what covers it is unmounted first.
func TestAVolumeOnItselfIsUnmountedTwice(t *testing.T) {
	v := newVolume(t)
	if err := syscall.Mount(v.dir, v.dir, "", syscall.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	h := find(t, v.number.String()).Holders[0]
	if got := commands(h); len(got) != 2 || got[0] != got[1] || !strings.HasSuffix(got[0], " "+v.dir) {
		t.Errorf("cures %q", got)
	}
	v.unmount(t)
	v.unmount(t)
	if v.alive(t) {
		t.Error("it is alive")
	}
}
