//go:build linux

package guest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestVolumesThatChange: what mountward says of a volume is how it is now, also
// below a container that has run for long.
func TestVolumesThatChange(t *testing.T) {
	n := connect(t)
	s := newStack(t)
	a, b := s.loop("a", 320), s.loop("b", 320)
	s.vg("vg0", a, b)
	s.do("lvcreate", "--quiet", "--yes", "--name", "pvc-old", "--size", "32M", "vg0", a)
	s.mkfs("ext4", "/dev/vg0/pvc-old")
	p := &pod{namespace: "db", name: "db-0", uid: uid(200)}
	target := s.target(p.uid, "pvc-1")
	s.mountAt(target, "ext4", "/dev/vg0/pvc-old", "")
	p.mounts = volumeMounts(target)
	n.start(t, p)
	device := number(t, "/dev/vg0/pvc-old")
	s.has(member(s.task(p)["mounts"], "/data"), "recorded /data", map[string]any{"lv": "vg0/pvc-old", "device": device})

	t.Run("renamed", func(t *testing.T) {
		s := s.on(t)
		s.do("lvrename", "vg0/pvc-old", "vg0/pvc-new")
		s.is(p, target, "vg0/pvc-new")
		if _, err := tryVolumes("--lv", "vg0/pvc-old"); err == nil {
			s.Error("something is found on the old name")
		}
		if got := s.do("findmnt", "--noheadings", "--output", "SOURCE", "--mountpoint", target); got != "/dev/mapper/vg0-pvc--old" {
			s.Errorf("findmnt says %s; it had the old name", got)
		}
		s.Log("findmnt's SOURCE is the old name, which is there no more")
	})
	t.Run("extended", func(t *testing.T) {
		s := s.on(t)
		s.do("lvextend", "--quiet", "--size", "+32M", "vg0/pvc-new", b)
		s.is(p, target, "vg0/pvc-new")
		s.equal("chain", lines(`
			* vg0-pvc--new lv vg0/pvc-new > a b
			a loop > vda
			b loop > vda
			vda disk
		`), s.draw(targetOf(t, "--path", target).Storage))
	})
	t.Run("moved to another disk", func(t *testing.T) { s.on(t).moved(p, target, a, b) })
	t.Run("a new one with the same number", func(t *testing.T) { s.on(t).sameNumber(n) })
	t.Run("overmounted", func(t *testing.T) {
		s := s.on(t)
		s.mountAt(target, "tmpfs", "over", "")
		s.showsStill(p, "vg0/pvc-new")
		if top := targetOf(t, "--path", target); top.Mount.FSType != "tmpfs" || len(topVolumes(top.Storage)) != 0 {
			s.Errorf("%s is %+v, want the tmpfs on top", target, top)
		}
		other := s.lv("vg0/other", "--size", "16M")
		s.mkfs("ext4", other)
		s.mountAt(target, "ext4", other, "")
		s.showsStill(p, "vg0/pvc-new")
		s.equal("top of "+target, []string{"vg0/other"}, topVolumes(targetOf(t, "--path", target).Storage))
		second := &pod{namespace: "db", name: "db-1", uid: uid(201), mounts: volumeMounts(target)}
		n.start(t, second)
		s.shows(second, "vg0/other")
	})
	t.Run("its directory replaced", func(t *testing.T) { s.on(t).replaced(p, target) })
}

// is wants the volume for a pod and for a path of the host.
func (s *stack) is(p *pod, path, lv string) {
	s.Helper()
	s.shows(p, lv)
	s.equal("volumes of "+path, []string{lv}, topVolumes(targetOf(s.T, "--path", path).Storage))
}

// shows wants the volume for what a pod has at /data.
func (s *stack) shows(p *pod, lv string) {
	s.Helper()
	s.has(member(s.now(p)["mounts"], "/data"), "/data of "+p.name, map[string]any{"lv": lv})
}

// showsStill wants the volume for what a pod has at /data, and that its source
// leads elsewhere now.
func (s *stack) showsStill(p *pod, lv string) {
	s.Helper()
	a, err := tryVolumes(p.id)
	data := member(s.only(p, a)["mounts"], "/data")
	s.has(data, "/data of "+p.name, map[string]any{"lv": lv})
	if why, _ := at(data, "why").(string); err == nil || !strings.Contains(why, "mounted over or replaced") {
		s.Errorf("why = %q with %v, want that the source leads elsewhere now", why, err)
	}
}

// marked says whether there is a mark about a volume.
func marked(marks []any, code, lv string) bool {
	return slices.ContainsFunc(marks, func(m any) bool { return at(m, "code") == code && at(m, "lv") == lv })
}

// moved: while pvmove copies, and after it was given up.
func (s *stack) moved(p *pod, target, from, to string) {
	const throttle = "/sys/module/dm_mirror/parameters/raid1_resync_throttle"
	s.do("modprobe", "dm-mirror")
	old, err := os.ReadFile(throttle)
	if err != nil {
		s.Fatal(err)
	}
	s.write(throttle, "1") // percent of the time: it would be over before it is looked at
	s.Cleanup(func() { s.write(throttle, string(old)) })
	move := exec.CommandContext(s.Context(), "pvmove", "--quiet", "--interval", "1", "--name", "pvc-new", from, to)
	if err := move.Start(); err != nil {
		s.Fatal(err)
	}
	moving := false
	for !moving {
		st := targetOf(s.T, "--path", target).Storage
		s.equal("volumes while it moves", []string{"vg0/pvc-new"}, topVolumes(st))
		moving = slices.ContainsFunc(st.Layers, func(l layer) bool { return l.Part == "pvmove" })
		if got, err := unix.Wait4(move.Process.Pid, nil, unix.WNOHANG, nil); got != 0 {
			s.Fatalf("pvmove ended before it was seen: %v", err)
		}
	}
	s.shows(p, "vg0/pvc-new")
	s.do("pvmove", "--abort")
	_ = move.Wait() // aborted, which is an error
	s.is(p, target, "vg0/pvc-new")
}

// sameNumber: the number of a volume that is gone is given to the next one.
func (s *stack) sameNumber(n *node) {
	var numbers []string
	for i, lv := range []string{"vg0/first", "vg0/second"} {
		s.Run(strings.TrimPrefix(lv, "vg0/"), func(t *testing.T) {
			s := s.on(t)
			device := s.lv(lv, "--size", "16M")
			numbers = append(numbers, number(t, device))
			s.mkfs("ext4", device)
			p := &pod{namespace: "db", name: "next", uid: uid(210 + i)}
			target := s.target(p.uid, "pvc-next")
			s.mountAt(target, "ext4", device, "")
			p.mounts = volumeMounts(target)
			n.start(t, p)
			s.recorded(p, "/data", map[string]any{"lv": lv, "device": numbers[i]})
			s.equal("--device", []string{lv}, topVolumes(targetOf(t, "--device", numbers[i]).Storage))
		})
	}
	if len(numbers) == 2 && numbers[0] != numbers[1] {
		s.Errorf("the numbers are %v: this shows nothing", numbers)
	}
}

// replaced: the host lets go of the volume while the container and a process
// have it, and puts another directory at its place.
func (s *stack) replaced(p *pod, target string) {
	holder := exec.CommandContext(s.Context(), "sleep", "infinity")
	holder.Dir = target
	if err := holder.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		_ = holder.Process.Kill()
		_ = holder.Wait()
	})
	if err := unix.Unmount(target, unix.MNT_DETACH); err != nil {
		s.Fatal(err)
	}
	// What the end of the whole test unmounts.
	s.Cleanup(func() {
		if err := unix.Mount("/dev/vg0/pvc-new", target, "ext4", 0, ""); err != nil {
			s.Error(err)
		}
	})
	lazily := func(what string) {
		s.Helper()
		s.showsStill(p, "vg0/pvc-new")
		if top := targetOf(s.T, "--path", target); top.Mount.MountPoint != "/" || len(topVolumes(top.Storage)) != 0 {
			s.Errorf("%s is %+v, want the node's own disk", what, top)
		}
		if all, _ := tryVolumes(); !marked(all.Marks, "outside-host", "vg0/pvc-new") {
			s.Errorf("%s: no mark that the volume is outside the host's view", what)
		}
	}
	lazily("unmounted lazily")
	if err := os.Rename(target, target+".old"); err != nil {
		s.Fatal(err)
	}
	s.made(filepath.Join(target, "new"))
	lazily("replaced")
}
