package doctor

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
)

var (
	treeSeed  = flag.Uint64("tree-seed", 0, "of the random mount trees; 0 for the usual ones")
	treeCount = flag.Int("tree-count", 1, "of the random mount trees, from -tree-seed on")
)

// TestWhoReceivesAMountIsWhatTheKernelDoes makes random mount trees in three
// namespaces, says who receives a mount, makes it and looks who has it.
func TestWhoReceivesAMountIsWhatTheKernelDoes(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: mounts")
	}
	trees := 1000
	if testing.Short() {
		trees = 100
	}
	first := uint64(1)
	if *treeSeed != 0 {
		first, trees = *treeSeed, *treeCount
	}
	dir := t.TempDir()
	var seen tally
	seen.done = map[string]int{}
	for seed := first; seed < first+uint64(trees) && !t.Failed(); seed++ {
		agree(t, dir, seed, &seen)
	}
	t.Logf("%d trees: %+v", trees, seen)
	if *treeSeed == 0 {
		seen.enough(t, trees)
	}
}

// tally counts what was met, so that the test cannot come to test nothing.
type tally struct {
	probes, alone, copies, elsewhere, hidden, slaves, deep int
	done                                                   map[string]int
}

func (s *tally) enough(t *testing.T, trees int) {
	t.Helper()
	for what, n := range map[string]int{
		"mounts that nobody else receives": s.alone, "copies": s.copies, "copies in other namespaces": s.elsewhere,
		"copies that are covered": s.hidden, "copies on slaves": s.slaves, "copies on slaves of slaves": s.deep,
	} {
		if n < trees/50 {
			t.Errorf("%d %s in %d trees: too few to test anything", n, what, trees)
		}
	}
	for _, op := range []string{"tmpfs", "bind", "rbind", "move", "shared", "slave", "private", "unbindable", "unmount", "namespace", "rename", "remove"} {
		if s.done[op] < trees/20 {
			t.Errorf("%d times %s in %d trees: too few to test anything", s.done[op], op, trees)
		}
	}
}

func agree(t *testing.T, dir string, seed uint64, seen *tally) {
	t.Helper()
	f, err := newForest(dir, seed)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	for range 10 + f.IntN(40) {
		if op, ok := f.step(); ok {
			seen.done[op]++
		}
	}
	for probe := range 3 {
		before, err := f.tables()
		if err != nil {
			t.Fatal(err)
		}
		from, path := f.IntN(f.IntN(len(f.spaces))+1), f.path() // the first is the one above others
		if mounts := f.mounts(f.spaces[from]); f.IntN(2) == 0 {
			path = mounts[f.IntN(len(mounts))]
		}
		groups := hostview.NewPeerGroups(before)
		want, refused := groups.Receivers(before[from].Namespace, path)
		name := fmt.Sprintf("probe-%d-%d", seed, probe)
		if err := f.spaces[from].do(func() error { return syscall.Mount(name, path, "tmpfs", 0, "size=64k") }); err != nil {
			continue // no such directory in this tree, or a removed one
		}
		seen.probes++
		after, err := f.tables()
		if err != nil {
			t.Fatal(err)
		}
		fail := func(what, diff string) {
			t.Errorf("seed %d, probe %d at %s of namespace %d: %s (run it alone with -tree-seed %d)\n%s\n%s", seed, probe, path, from, what, seed, diff, f.report(before))
		}
		if refused != nil {
			fail("a mount was made where none was expected", refused.Error())
			return
		}
		if want.Why != "" || len(want.Perhaps) > 0 {
			fail("it is not known who receives it, and all tables are there", want.Why)
			return
		}
		if diff := cmp.Diff(f.arrived(after, name), expected(want.Receivers)); diff != "" {
			fail("who received it (-) is not who was said to (+)", diff)
			return
		}
		if diff := cmp.Diff(f.found(t, want.Receivers, name, after), paths(want.Receivers)); diff != "" {
			fail("where it is found (-) is not where it was said to be (+)", diff)
			return
		}
		if diff := f.reaches(groups, hostview.Location{Namespace: before[from].Namespace, Path: path}, want.Receivers); diff != "" {
			fail("Reaches differs from what the kernel did", diff)
			return
		}
		if diff := withheld(before, from, path, f.arrived(after, name)); diff != "" {
			fail("without one of the tables too much is said", diff)
			return
		}
		if diff := predicted(before, from, path, f.arrived(after, name)); diff != "" {
			fail("doctor differs from what the kernel did", diff)
			return
		}
		if diff := judged(before, from, path, f.arrived(after, name)); diff != "" {
			fail("what doctor says of the path differs from what the kernel did", diff)
			return
		}
		seen.count(before[from].Namespace, want.Receivers)
	}
}

func (s *tally) count(from uint64, all []hostview.Receiver) {
	if len(all) == 1 {
		s.alone++
	}
	s.copies += len(all) - 1
	for _, r := range all[1:] {
		if r.Namespace != from {
			s.elsewhere++
		}
		if !r.Visible {
			s.hidden++
		}
		if m := r.Parent.State.Master; m != 0 {
			s.slaves++
			if m != all[0].Parent.State.Peer && m != all[0].Parent.State.Master {
				s.deep++
			}
		}
	}
}

// withheld takes away one table after the other: what is said is true then, and
// what is not said is said to be possible.
func withheld(tables []hostview.NamespaceTable, from int, path string, arrived []arrival) string {
	for i, missing := range tables {
		if i == from {
			continue
		}
		r, err := hostview.NewPeerGroups(slices.Delete(slices.Clone(tables), i, i+1)).Receivers(tables[from].Namespace, path)
		if err != nil {
			return err.Error()
		}
		sure, perhaps := expected(r.Receivers), expected(r.Perhaps)
		for _, a := range sure {
			if !slices.Contains(arrived, a) {
				return fmt.Sprintf("without mnt:[%d]: %v does not receive it", missing.Namespace, a)
			}
		}
		for _, a := range arrived {
			if a.Namespace != missing.Namespace && !slices.Contains(sure, a) && !slices.Contains(perhaps, a) {
				return fmt.Sprintf("without mnt:[%d]: %v receives it", missing.Namespace, a)
			}
		}
	}
	return ""
}

type arrival struct {
	Namespace uint64
	Parent    int
	Point     string
}

func compareArrivals(a, b arrival) int {
	return slices.Compare([]string{fmt.Sprint(a)}, []string{fmt.Sprint(b)})
}

func expected(all []hostview.Receiver) []arrival {
	list := []arrival{}
	for _, r := range all {
		list = append(list, arrival{r.Namespace, r.Parent.ID, r.MountPoint})
	}
	slices.SortFunc(list, compareArrivals)
	return list
}

// arrived are the mounts of a source.
func (f *forest) arrived(tables []hostview.NamespaceTable, source string) []arrival {
	list := []arrival{}
	for _, n := range tables {
		for e := range n.Table.All() {
			if e.Source == source {
				list = append(list, arrival{n.Namespace, e.Parent, e.MountPoint})
			}
		}
	}
	slices.SortFunc(list, compareArrivals)
	return list
}

func paths(all []hostview.Receiver) []string {
	list := []string{}
	for _, r := range all {
		if r.Visible {
			list = append(list, fmt.Sprintf("%d %s", r.Namespace, r.MountPoint))
		}
	}
	slices.Sort(list)
	return list
}

// found are the places of receivers that lead to the probe when they are opened.
// The table has to say so too.
func (f *forest) found(t *testing.T, all []hostview.Receiver, source string, after []hostview.NamespaceTable) []string {
	t.Helper()
	list := []string{}
	for i, s := range f.spaces {
		for _, r := range all {
			if r.Namespace != s.inode {
				continue
			}
			var st syscall.Stat_t
			err := s.do(func() error { return syscall.Stat(r.MountPoint, &st) })
			device := facts.DeviceNumber{Major: uint32(st.Dev >> 8 & 0xfff), Minor: uint32(st.Dev&0xff | st.Dev>>12&0xfff00)}
			e, ok := after[i].Table.At(r.MountPoint)
			if is := err == nil && ok && e.Device == device; (ok && e.Source == source) != (is && e.Source == source) {
				t.Errorf("%s: the table says %s, the kernel device %s (%v)", r.MountPoint, e.Line(), device, err)
			}
			place := fmt.Sprintf("%d %s", r.Namespace, r.MountPoint)
			if err == nil && ok && e.Source == source && e.Device == device && !slices.Contains(list, place) {
				list = append(list, place)
			}
		}
	}
	slices.Sort(list)
	return list
}

// reaches compares the question about one place with the list of all, at every
// place of the tree.
func (f *forest) reaches(groups *hostview.PeerGroups, from hostview.Location, all []hostview.Receiver) string {
	there := paths(all)
	for _, s := range f.spaces {
		places := []string{f.path(), f.path(), f.path()}
		for _, r := range all {
			places = append(places, r.MountPoint)
		}
		for _, p := range places {
			got := groups.Reaches(from, hostview.Location{Namespace: s.inode, Path: p})
			want := slices.Contains(there, fmt.Sprintf("%d %s", s.inode, p))
			if (got.Truth == facts.Yes) != want || got.Truth == facts.Unknown {
				return fmt.Sprintf("%d %s: %+v, want %v", s.inode, p, got, want)
			}
		}
	}
	return ""
}

// predicted compares what the check says of a kubelet whose root is the path, in
// the namespace of the mount, with how many of the mounts are there.
func predicted(tables []hostview.NamespaceTable, from int, path string, arrived []arrival) string {
	s := &Snapshot{Context: context.Background()}
	s.Kubelet.Root = path
	for i, n := range tables {
		role := []string{RoleInit, RoleRuntime, RoleRuntime}[i]
		if i == from {
			role = RoleKubelet
		}
		s.Places = append(s.Places, Place{Role: role, Inode: n.Namespace, Table: n.Table})
	}
	n := 0
	for _, a := range arrived {
		if a.Namespace == tables[from].Namespace {
			n++
		}
	}
	f := checkAmplification(s)[0]
	if n == 1 && f.Code == CodeMountedOnce || n > 1 && f.Code == CodeMountedTwice && strings.Contains(f.Message, fmt.Sprintf(" appears %d times ", n)) && f.Answer == facts.Yes {
		return ""
	}
	return fmt.Sprintf("%d mounts; %s: %s", n, f.Code, f.Message)
}

// literal is a machine without symbolic links.
type literal struct{}

func (literal) Canonical(_ context.Context, path string) (string, error) { return path, nil }

func (literal) ReadFile(context.Context, string, int) ([]byte, error) { return nil, fs.ErrNotExist }

func (literal) ReadDir(context.Context, string, int) ([]string, error) { return nil, fs.ErrNotExist }

// judged compares what the check of propagation says of the path, in a runtime's
// namespace beside the host's, with where the mount arrived.
func judged(tables []hostview.NamespaceTable, from int, path string, arrived []arrival) string {
	if from == 0 {
		return ""
	}
	s := &Snapshot{Context: context.Background(), Require: []string{path}, Files: literal{}, Places: []Place{
		{Role: RoleInit, Inode: tables[0].Namespace, Table: tables[0].Table, Files: literal{}},
		{Role: RoleRuntime, Inode: tables[from].Namespace, Table: tables[from].Table, Files: literal{}},
	}}
	s.Places[0].Process.PID, s.Places[1].Process.PID = 1, 2
	host, all := 0, len(arrived)
	for _, a := range arrived {
		if a.Namespace == tables[0].Namespace {
			host++
		}
	}
	for _, f := range checkPropagation(s) {
		if f.Subject != path || !strings.Contains(f.Where, "runtime") {
			continue
		}
		wrong := false
		switch f.Code {
		case CodeShared:
			wrong = host == 0
		case CodeNotShared, CodeSlaveOnly:
			wrong = all != 1
		}
		// The other codes say of a group that the host's mount at the path is not
		// in it. A covered one, or a slave of it, can receive all the same.
		if wrong {
			return fmt.Sprintf("%d mounts, %d on the host; %s: %s", all, host, f.Code, f.Message)
		}
	}
	return ""
}
