package namespaces

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const statTail = " S 42 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 7 0 4250 100 200 18446744073709551615 1 1"

func TestTheLineOfAProcessIsReadWhateverItsName(t *testing.T) {
	for _, comm := range []string{"bash", "", ") 1 2 (", "a) S 9 9 9", "((", "x\ny", "\xff\x1b[2J"} {
		s, err := parseStat([]byte("17 (" + comm + ")" + statTail + "\n"))
		if err != nil || s.comm != comm || s.parent != 42 || s.threads != 7 || s.start != 4250 || s.kernel || s.zombie {
			t.Errorf("%q: %+v %v", comm, s, err)
		}
	}
	boot := time.Unix(1000, 0)
	s, err := parseStat([]byte("2 (kthreadd) Z 0 0 0 0 -1 2129984 0 0 0 0 0 14 0 0 20 0 1 0 15 0 0"))
	if err != nil || !s.kernel || !s.zombie || !s.started(boot).Equal(boot.Add(150*time.Millisecond)) || !s.started(time.Time{}).IsZero() {
		t.Errorf("%+v %v", s, err)
	}
	for _, bad := range []string{"", "1 (a", "1 a) S", ")(", "1 (a) S 1", "1 (a)" + strings.Replace(statTail, "42", "x", 1), "1 (a)" + strings.Replace(statTail, "4250", "-1", 1)} {
		if s, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q: %+v", bad, s)
		}
	}
}

func TestTheUserAndTheBootAreFoundOrNotKnown(t *testing.T) {
	if id := effectiveUID([]byte("Name:\ta\\nUid: 5\nUid:\t1\t1000\t2\t3\n")); id == nil || *id != 1000 {
		t.Errorf("%v, want 1000", id)
	}
	for _, bad := range []string{"", "Uid:\t1\n", "Uid:\t1\tx\n", "Uid:\t1\t99999999999\n"} {
		if id := effectiveUID([]byte(bad)); id != nil {
			t.Errorf("%q: %d", bad, *id)
		}
	}
	if at := bootTime([]byte("cpu 1\nbtime 1700000000\nprocesses 1\n")); at.Unix() != 1700000000 {
		t.Error(at)
	}
	if at := bootTime([]byte("btime x\n")); !at.IsZero() {
		t.Error(at)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("bash")
	f.Add(") 1 2 (")
	f.Fuzz(func(t *testing.T, comm string) {
		if s, err := parseStat([]byte("17 (" + comm + ")" + statTail)); err != nil || s.comm != comm || s.parent != 42 || s.start != 4250 {
			t.Errorf("%q: %+v %v", comm, s, err)
		}
		_, _ = parseStat([]byte(comm)) // must not panic
	})
}

func FuzzRootIn(f *testing.F) {
	f.Add("27 1 0:1 / / rw - ext4 /dev/x rw\n")
	f.Add("22 27 0:21 / /proc rw - proc proc rw\n27 1 0:1 / / rw - ext4 /dev/x rw")
	f.Add(strings.Repeat("x", 20<<10) + " / /\n")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := rootIn(strings.NewReader(text))
		if err == nil && !strings.Contains("\n"+text, "\n"+id+" ") {
			t.Errorf("%q is no first field of %q", id, text)
		}
	})
}

func TestTheMountAtTheRootIsFoundBehindLongLines(t *testing.T) {
	long := "26 1 0:1 / /a rw - overlay o " + strings.Repeat("y 1 2 3 / z ", 9<<10) + "\n"
	id, err := rootIn(strings.NewReader(long + "27 1 0:1 /x / rw - ext4 /dev/x rw\n28 1 0:1 / / rw - ext4 /dev/x rw\n"))
	if err != nil || id != "27" {
		t.Errorf("%q %v", id, err)
	}
	if id, err := rootIn(strings.NewReader(long)); err == nil {
		t.Errorf("there is none, but %q is returned", id)
	}
}

func TestALinkOfANamespaceIsRead(t *testing.T) {
	for link, want := range map[string]uint64{
		"mnt:[4026531841]": 4026531841, "mnt:[0]": 0, "mnt:[]": 0, "net:[4026531841]": 0, "mnt:[4026531841": 0,
		"mnt:[-1]": 0, "/mnt:[4026531841]": 0, "": 0,
	} {
		if got, ok := inodeOf(link); got != want && ok || ok != (want != 0) {
			t.Errorf("%q: %d %t", link, got, ok)
		}
	}
	if got := fmt.Sprint(&Namespace{Inode: 7}); got != "mnt:[7]" {
		t.Error(got)
	}
	if got := (&Namespace{PIDs: []int{9}}).String(); got != "the mount namespace of process 9" {
		t.Error(got)
	}
}
