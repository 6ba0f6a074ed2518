package namespaces

import (
	"context"
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"github.com/mountward/mountward/pkg/internal/linux/linuxtest"
)

// sights is what a process of another user makes out.
type sights struct {
	Rung, Error, Forced string
	Inode               uint64 // of the namespace in which a mount at the directory was seen
	PIDs                []int
	Tables              int
	Unknown             []Unknown
}

func look(dir string) (s sights) {
	c, err := Take(context.Background(), Options{})
	if err != nil {
		s.Error = err.Error()
		return s
	}
	if _, err := Take(context.Background(), Options{Rung: RungKernel}); err != nil {
		s.Forced = err.Error()
	}
	s.Rung, s.Unknown = c.Rung, c.Unknown
	for _, n := range c.Namespaces {
		table, err := c.Table(context.Background(), n)
		if err != nil {
			continue
		}
		s.Tables++
		if e, ok := table.At(dir); ok && e.Source == "held" {
			s.Inode, s.PIDs = n.Inode, n.PIDs
		}
	}
	return s
}

func TestWithoutRootTheTablesAreReadAndTheRestIsSaid(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	p, _ := holder(t, dir)
	viewer := linuxtest.Start(t, "census", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}, dir)
	var s sights
	if err := json.NewDecoder(viewer.Out).Decode(&s); err != nil {
		t.Fatal(err)
	}
	if s.Rung != RungProc || s.Error != "" || !strings.Contains(s.Forced, "CAP_SYS_ADMIN") {
		t.Errorf("rung %q, %q; forced: %q", s.Rung, s.Error, s.Forced)
	}
	if s.Inode != 0 || len(s.PIDs) != 1 || s.PIDs[0] != p.Pid || s.Tables < 2 {
		t.Errorf("the mount is seen in mnt:[%d] of processes %v; %d tables", s.Inode, s.PIDs, s.Tables)
	}
	said := ""
	for _, u := range s.Unknown {
		said += u.What + ": " + u.Why + "\n"
	}
	for _, want := range []string{"the numbers of the mount namespaces of", "descriptors of", "permission denied"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said in:\n%s", want, said)
		}
	}
}

func TestInAUserNamespaceNoMoreIsClaimedThanSeen(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	holder(t, dir)
	viewer := linuxtest.Start(t, "census", &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 65534, Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 65534, Size: 1}},
	}, dir)
	var s sights
	if err := json.NewDecoder(viewer.Out).Decode(&s); err != nil {
		t.Fatal(err)
	}
	if s.Rung == RungKernel && len(s.Unknown) == 0 || s.Error != "" || s.Tables < 2 {
		t.Errorf("%+v", s)
	}
}
