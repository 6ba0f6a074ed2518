package doctor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

func TestTheKernelIsJudgedByItsRelease(t *testing.T) {
	tests := map[string]struct {
		release string
		want    string
		says    string
	}{
		"RHEL 7":       {"3.10.0-1160.el7.x86_64", "no", "too old"},
		"5.7":          {"5.7.19", "no", "too old"},
		"5.8":          {"5.8.0", "yes", "it comes before mount_setattr"},
		"bookworm":     {"6.1.0-44-amd64", "yes", "it comes before statmount (one mount read without the table), 6.8"},
		"trixie":       {"6.12.63+deb13-amd64", "yes", "it has mount_setattr (lowering a mount in place), MOVE_MOUNT_SET_GROUP (raising a mount in place), statmount"},
		"two digits":   {"10.0", "yes", "NS_MNT_GET_NEXT"},
		"not a number": {"current", "unknown", "cannot tell"},
		"empty":        {"", "unknown", "cannot tell"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := nriNode{files: nriFiles{}, proc: map[string]string{"sys/kernel/osrelease": test.release + "\n"}}.snapshot(t)
			all := checkKernel(s)
			if diff := cmp.Diff([]string{test.want + " kernel kernel"}, codes(t, all)); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(all[0].Message, test.says) {
				t.Errorf("%q does not say %q", all[0].Message, test.says)
			}
		})
	}
	if got := codes(t, checkKernel(nriNode{files: nriFiles{}}.snapshot(t))); got[0] != "unknown kernel kernel" {
		t.Errorf("without a release: %v", got)
	}
}

func TestMayDetachMounts(t *testing.T) {
	for text, want := range map[string][]string{ // M63
		"0\n": {"yes kernel kernel", "no may-detach-mounts fs.may_detach_mounts"},
		"1\n": {"yes kernel kernel", "yes may-detach-mounts fs.may_detach_mounts"},
		"":    {"yes kernel kernel"},
	} {
		proc := map[string]string{"sys/kernel/osrelease": "6.1.0"}
		if text != "" {
			proc["sys/fs/may_detach_mounts"] = text
		}
		if diff := cmp.Diff(want, codes(t, checkKernel(nriNode{files: nriFiles{}, proc: proc}.snapshot(t)))); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestAProcThatHidesProcesses(t *testing.T) {
	const open = "20 1 0:5 / /proc rw - proc proc rw\n"
	const hiding = "20 1 0:5 / /proc rw - proc proc rw,gid=4,hidepid=invisible\n"
	seen := map[string]string{"1/mountinfo": open, "1/comm": "systemd"}
	tests := map[string]struct {
		table string
		proc  map[string]string
		procs []namespaces.Process
		want  []string
	}{
		"it does not":                      {open, seen, nil, nil},
		"hidepid=0 does not":               {strings.ReplaceAll(hiding, "invisible", "0"), seen, nil, nil},
		"not from us":                      {hiding, seen, nil, []string{"yes proc-hidepid /proc"}},
		"from us":                          {hiding, nil, nil, []string{"unknown proc-hidepid /proc"}},
		"from the service":                 {hiding, seen, []namespaces.Process{service()}, []string{"no proc-hidepid /proc"}},
		"not from one launched by the way": {hiding, seen, []namespaces.Process{launched()}, []string{"yes proc-hidepid /proc"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			table, err := hostview.ReadTable(strings.NewReader("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n" + test.table))
			if err != nil {
				t.Fatal(err)
			}
			s := nriNode{files: nriFiles{}, proc: test.proc, procs: test.procs, cmdline: map[int]string{50: "mountward run", 51: "x"}}.snapshot(t)
			s.Places = []Place{{Role: RoleInit, Table: table}}
			if diff := cmp.Diff(test.want, codes(t, checkKernel(s))[1:], cmp.Transformer("", func(s []string) string { return strings.Join(s, "\n") })); diff != "" {
				t.Error(diff)
			}
		})
	}
}
