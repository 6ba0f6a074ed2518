package doctor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

func TestTheJournalIsJudged(t *testing.T) {
	host := nriFiles{journalSocket: {}, journalDir + "/abc/system.journal": {}}
	const root = "1 0 0:50 / / rw - overlay overlay rw\n"
	container := func(table string) map[string]string { return map[string]string{"50/mountinfo": table} }
	tests := map[string]struct {
		node nriNode
		want []string
	}{
		"it keeps records": {nriNode{files: host}, []string{"yes journal-socket " + journalSocket, "yes journal-persistent " + journalDir}},
		"it loses them": {
			nriNode{files: nriFiles{journalSocket: {}}}, []string{"yes journal-socket " + journalSocket, "yes journal-persistent " + journalDir},
		},
		"there is none": {nriNode{files: nriFiles{}}, []string{"yes journal-socket " + journalSocket}},
		"a daemon in a container without it": {
			nriNode{files: host, procs: []namespaces.Process{inContainer()}, proc: container(root)},
			[]string{"yes journal-socket " + journalSocket, "no journal-socket process 50 (in a container)", "yes journal-persistent " + journalDir},
		},
		"one with a directory of its own there": {
			nriNode{files: host, procs: []namespaces.Process{inContainer()}, proc: container(root + "2 1 0:60 / /run rw - tmpfs tmpfs rw\n")},
			[]string{"yes journal-socket " + journalSocket, "no journal-socket process 50 (in a container)", "yes journal-persistent " + journalDir},
		},
		"one with the host's directory": {
			nriNode{files: host, procs: []namespaces.Process{inContainer()}, proc: container(root + "2 1 0:25 /systemd/journal /run/systemd/journal rw - tmpfs tmpfs rw\n")},
			[]string{"yes journal-socket " + journalSocket, "yes journal-socket process 50 (in a container)", "yes journal-persistent " + journalDir},
		},
		"one whose mounts cannot be read": {
			nriNode{files: host, procs: []namespaces.Process{inContainer()}},
			[]string{"yes journal-socket " + journalSocket, "unknown journal-socket process 50 (in a container)", "yes journal-persistent " + journalDir},
		},
		"a service has the host's": {
			nriNode{files: host, procs: []namespaces.Process{service()}},
			[]string{"yes journal-socket " + journalSocket, "yes journal-persistent " + journalDir},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.node.cmdline = map[int]string{50: "mountward run"}
			table, err := hostview.ReadTable(strings.NewReader("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:25 / /run rw - tmpfs tmpfs rw\n"))
			if err != nil {
				t.Fatal(err)
			}
			s := test.node.snapshot(t)
			s.Places = []Place{{Role: RoleInit, Table: table}}
			if diff := cmp.Diff(test.want, codes(t, checkJournal(s))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
