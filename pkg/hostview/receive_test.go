package hostview

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// node joins tables of namespaces 1, 2, 3...
func groupsOf(t testing.TB, texts ...string) *PeerGroups {
	t.Helper()
	var tables []NamespaceTable
	for i, text := range texts {
		tables = append(tables, NamespaceTable{uint64(i + 1), parse(t, text)})
	}
	return NewPeerGroups(tables)
}

// brief is a receiver as "NAMESPACE PARENT MOUNT-POINT", in brackets where it is
// covered.
func brief(all []Receiver) []string {
	var lines []string
	for _, r := range all {
		line := fmt.Sprintf("%d %d %s", r.Namespace, r.Parent.ID, r.MountPoint)
		if !r.Visible {
			line = "[" + line + "]"
		}
		lines = append(lines, line)
	}
	return lines
}

const (
	sharedRoot  = "25 1 253:1 / / rw shared:1 - ext4 d rw\n"
	privateRoot = "25 1 253:1 / / rw - ext4 d rw\n"
	rootfs      = "300 299 0:50 / / rw - overlay o rw\n"
)

func TestWhoReceivesAMount(t *testing.T) {
	for _, c := range []struct {
		name    string
		tables  []string
		path    string
		want    []string
		perhaps []string
		why     string
	}{
		{"private: nobody else", []string{privateRoot, rootfs + "301 300 253:1 / /host rw - ext4 d rw\n"}, "/a", []string{"1 25 /a"}, nil, ""},
		{"unbindable: nobody else", []string{"25 1 253:1 / / rw unbindable - ext4 d rw\n"}, "/a", []string{"1 25 /a"}, nil, ""},
		{"a slave sends nothing up", []string{"25 1 253:1 / / rw master:1 - ext4 d rw\n", "300 299 253:1 / / rw shared:1 - ext4 d rw\n"}, "/a", []string{"1 25 /a"}, nil, ""},
		{"a peer in the same namespace", []string{sharedRoot + "30 25 253:1 /a /b rw shared:1 - ext4 d rw\n"}, "/a/x", []string{"1 25 /a/x", "1 30 /b/x"}, nil, ""},
		{"a peer that does not show the directory", []string{sharedRoot + "30 25 253:1 /a /b rw shared:1 - ext4 d rw\n"}, "/ab", []string{"1 25 /ab"}, nil, ""},
		{"at the very root of a peer", []string{sharedRoot + "30 25 253:1 /a /b rw shared:1 - ext4 d rw\n"}, "/a", []string{"1 25 /a", "1 30 /b"}, nil, ""},
		{"from a bind of a part to the whole", []string{sharedRoot + "30 25 253:1 /a /b rw shared:1 - ext4 d rw\n"}, "/b/x", []string{"1 30 /b/x", "1 25 /a/x"}, nil, ""},
		{"a peer in another namespace and its slave", []string{sharedRoot, "300 299 253:1 / / rw shared:1 - ext4 d rw\n", rootfs + "301 300 253:1 /v /host rw master:1 - ext4 d rw\n"}, "/v/p", []string{"1 25 /v/p", "2 300 /v/p", "3 301 /host/p"}, nil, ""},
		{"a slave of a slave", []string{sharedRoot, "300 299 253:1 / / rw shared:2 master:1 - ext4 d rw\n", rootfs + "301 300 253:1 / /h rw master:2 - ext4 d rw\n"}, "/x", []string{"1 25 /x", "2 300 /x", "3 301 /h/x"}, nil, ""},
		{"a slave of a slave that does not show it itself", []string{sharedRoot, rootfs + "301 300 253:1 /o /o rw shared:2 master:1 - ext4 d rw\n302 300 253:1 /x /x rw shared:2 master:1 - ext4 d rw\n"}, "/x/y", []string{"1 25 /x/y", "2 302 /x/y"}, nil, ""},
		{"the topmost of a stack is where it is made, and the covered one receives", []string{sharedRoot + "30 25 253:1 /a /a rw shared:1 - ext4 d rw\n"}, "/a/x", []string{"1 30 /a/x", "[1 25 /a/x]"}, nil, ""},
		{"it arrives beneath what is there", []string{sharedRoot, "300 299 253:1 / / rw master:1 - ext4 d rw\n301 300 0:9 / /x rw - tmpfs t rw\n"}, "/x", []string{"1 25 /x", "[2 300 /x]"}, nil, ""},
		{"it covers the place of another copy", []string{sharedRoot + "30 25 253:1 /x /x/y rw shared:1 - ext4 d rw\n"}, "/x", []string{"1 25 /x", "[1 30 /x/y]"}, nil, ""},
		{"another superblock", []string{sharedRoot + "30 25 0:9 / /t rw shared:3 - tmpfs t rw\n", "300 299 253:1 / / rw master:1 - ext4 d rw\n"}, "/t/x", []string{"1 30 /t/x"}, nil, ""},
		{"a master that no table has may pass it on", []string{sharedRoot, rootfs + "301 300 253:1 / /h rw master:9 - ext4 d rw\n"}, "/x", []string{"1 25 /x"}, []string{"2 301 /h/x"}, "group 9, which others receive from, is in no table that was read"},
		{"nor of another superblock", []string{sharedRoot, rootfs + "301 300 0:9 / /h rw master:9 - tmpfs t rw\n"}, "/x", []string{"1 25 /x"}, nil, ""},
		{"nothing leaves a private mount through a hidden one", []string{privateRoot, rootfs + "301 300 253:1 / /h rw master:9 - ext4 d rw\n"}, "/x", []string{"1 25 /x"}, nil, ""},
		{"NFS hides where its mounts begin", []string{sharedRoot + "30 25 0:40 / /n rw shared:3 - nfs4 s:/e rw\n31 25 0:40 / /m rw shared:3 - nfs4 s:/e/sub rw\n"}, "/n/x", []string{"1 30 /n/x"}, []string{"1 31 /m/x"}, "the file system does not tell where its mounts begin: nfs4"},
		{"tables of different moments", []string{sharedRoot, rootfs + "301 300 0:9 / /h rw master:1 - tmpfs t rw\n"}, "/x", []string{"1 25 /x"}, nil, "group 1 has mounts of two file systems: the tables are of different moments"},
		{"a root that is removed shows no directory", []string{sharedRoot + "30 25 253:1 /a//deleted /b rw shared:1 - ext4 d rw\n"}, "/a/x", []string{"1 25 /a/x"}, nil, ""},
		{"an unclean path", []string{sharedRoot}, "/a/../b//c/", []string{"1 25 /b/c"}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := groupsOf(t, c.tables...).Receivers(1, c.path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, brief(r.Receivers)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.perhaps, brief(r.Perhaps)); diff != "" {
				t.Error("perhaps", diff)
			}
			if r.Why != c.why {
				t.Errorf("why %q, want %q", r.Why, c.why)
			}
		})
	}
}

func TestWhereAMountComesFrom(t *testing.T) {
	for state, want := range map[string]facts.Truth{"": facts.No, "shared:1": facts.No, "master:2": facts.Yes, "shared:1 master:2": facts.Yes, "master:9": facts.Unknown} {
		r, err := groupsOf(t, "25 1 253:1 / / rw "+state+" - ext4 d rw\n", "300 299 253:1 / / rw shared:2 - ext4 d rw\n").Receivers(1, "/x")
		if err != nil || r.Upstream.Truth != want || r.Upstream.Why == "" {
			t.Errorf("%q: %+v, %v", state, r.Upstream, err)
		}
	}
}

func TestWhatHasNoReceiversIsCannotTell(t *testing.T) {
	g := groupsOf(t, sharedRoot+"30 25 253:1 /a//deleted /b rw shared:1 - ext4 d rw\n", "40 25 253:1 /opt /opt rw shared:1 - ext4 d rw\n")
	for why, at := range map[string]Location{
		"no mount table": {9, "/x"}, "not an absolute path": {1, "x"}, "root of mount 30 is removed": {1, "/b"}, "has no root": {2, "/x"},
	} {
		_, err := g.Receivers(at.Namespace, at.Path)
		var cannot *CannotTell
		if !errors.As(err, &cannot) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
		if a := g.Reaches(at, Location{1, "/x"}); a.Truth != facts.Unknown {
			t.Errorf("%s: %+v", why, a)
		}
	}
}

func TestWhetherAMountIsFoundElsewhere(t *testing.T) {
	g := groupsOf(t, sharedRoot,
		rootfs+"301 300 253:1 / /host rw master:1 - ext4 d rw\n302 301 0:9 / /host/full rw - tmpfs t rw\n",
		rootfs+"303 300 253:1 / /host rw - ext4 d rw\n304 300 253:1 / /maybe rw master:9 - ext4 d rw\n305 300 253:1 /a//deleted /gone rw master:1 - ext4 d rw\n")
	for _, c := range []struct {
		from, to Location
		want     facts.Truth
		why      string
	}{
		{Location{1, "/v"}, Location{1, "/v"}, facts.Yes, "25 1 253:1"},
		{Location{1, "/v"}, Location{2, "/host/v"}, facts.Yes, "301 300 253:1"},
		{Location{1, "/v"}, Location{2, "/v"}, facts.No, "not among what receives it: 2 places"},
		{Location{1, "/full"}, Location{2, "/host/full"}, facts.No, "another covers it"},
		{Location{2, "/host/v"}, Location{1, "/v"}, facts.No, "not among"},
		{Location{1, "/v"}, Location{3, "/host/v"}, facts.No, "not among"},
		{Location{1, "/v"}, Location{3, "/maybe/v"}, facts.Unknown, "group 9"},
		{Location{1, "/v"}, Location{3, "/gone"}, facts.No, "not among"},
		{Location{1, "/v"}, Location{4, "/v"}, facts.Unknown, "no mount table"},
	} {
		if got := g.Reaches(c.from, c.to); got.Truth != c.want || !strings.Contains(got.Why, c.why) {
			t.Errorf("%v to %v: %+v, want %v %q", c.from, c.to, got, c.want, c.why)
		}
	}
}

func TestOfTwoTablesOfANamespaceTheFirstCounts(t *testing.T) {
	table := parse(t, sharedRoot)
	r, err := NewPeerGroups([]NamespaceTable{{1, table}, {1, table}, {2, nil}}).Receivers(1, "/x")
	if err != nil || len(r.Receivers) != 1 {
		t.Errorf("%v, %v", brief(r.Receivers), err)
	}
}

// FuzzReceivers: whatever the tables are, the place itself is first, nobody
// receives twice, and each receiver's place is on its mount and is the same
// directory of the same superblock.
func FuzzReceivers(f *testing.F) {
	f.Add(sharedRoot+"30 25 253:1 /a /b rw shared:1 - ext4 d rw\n", rootfs+"301 300 253:1 / /h rw shared:4 master:1 - ext4 d rw\n", "/a/x")
	f.Add("25 25 253:1 / / rw shared:1 master:1 - ext4 d rw\n", "1 1 253:1 / /a rw shared:2 master:1 - ext4 d rw\n", "/")
	f.Add("1 0 0:1 /../x / rw shared:1 - cgroup c rw\n", "2 0 0:1 net:[4] / rw shared:1 - nsfs n rw\n", "/q")
	f.Add("25  253:1 / /  shared:1 -   \n3 25 253:1 /a b rw shared:1 - ext4 d ", rootfs, "/a/x") // a place without a slash
	f.Add("  :  /  -   ", "", "/0")                                                              // a mount without a root
	f.Fuzz(func(t *testing.T, first, second, path string) {
		var tables []NamespaceTable
		for i, text := range []string{first, second} {
			table, err := ReadTable(strings.NewReader(text))
			if err != nil || table.Len() > 200 {
				return
			}
			tables = append(tables, NamespaceTable{uint64(i + 1), table})
		}
		r, err := NewPeerGroups(tables).Receivers(1, path)
		if err != nil {
			return
		}
		clean, _ := facts.CleanAbs(path)
		if len(r.Receivers) == 0 || r.Receivers[0].Namespace != 1 || r.Receivers[0].MountPoint != clean && facts.Within(clean, r.Receivers[0].Parent.MountPoint) {
			t.Fatalf("%q: %v", path, brief(r.Receivers))
		}
		seen := map[string]bool{}
		rest, _ := facts.Below(clean, r.Receivers[0].Parent.MountPoint)
		position := facts.JoinRoot(r.Receivers[0].Parent.Root, rest)
		for i, at := range r.Receivers {
			key := fmt.Sprintf("%d %+v %s", at.Namespace, at.Parent, at.MountPoint)
			if seen[key] && uniqueIDs(tables[0].Table) && uniqueIDs(tables[1].Table) {
				t.Fatalf("twice: %s", key)
			}
			seen[key] = true
			if at.Parent.Device != r.Receivers[0].Parent.Device || i > 0 && !facts.Within(position, at.Parent.Root) {
				t.Fatalf("%s is not on %s", position, at.Parent.Line())
			}
		}
	})
}

func BenchmarkReceivers(b *testing.B) {
	table, err := ReadTable(strings.NewReader(string(bigTable(50_000))))
	if err != nil {
		b.Fatal(err)
	}
	tables := []NamespaceTable{{1, table}}
	for i := range 500 {
		tables = append(tables, NamespaceTable{uint64(i + 2), parse(b, rootfs+"301 300 253:1 / /host rw master:1 - ext4 d rw\n")})
	}
	b.Run("NewPeerGroups", func(b *testing.B) {
		for b.Loop() {
			NewPeerGroups(tables)
		}
	})
	g := NewPeerGroups(tables)
	b.Run("Receivers", func(b *testing.B) {
		for b.Loop() {
			if _, err := g.Receivers(1, "/x"); err != nil {
				b.Fatal(err)
			}
		}
	})
}
