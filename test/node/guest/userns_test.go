//go:build linux

package guest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// userNamespace is T17: NRI's message would lose the id mapping of a mount, so
// those of a pod with a user namespace are not changed by it, and to lower one is
// refused unless the rule leaves it. Inside the container they can be changed.
func (n *node) userNamespace(s *stack, inside bool) {
	const none, down = cri.MountPropagation_PROPAGATION_PRIVATE, cri.MountPropagation_PROPAGATION_HOST_TO_CONTAINER
	type outcome struct{ propagation, result string } // none: refused
	for i, test := range []struct {
		name, namespace         string
		asked                   cri.MountPropagation
		bySpecification, within outcome
	}{
		{"no rule", "none", none, outcome{"private", ""}, outcome{"private", ""}},
		{"raised", "set-rslave", none, outcome{"private", "left"}, outcome{"private,slave", "applied"}},
		{"lowered", "set-rprivate", down, outcome{}, outcome{"private", "applied"}},
		{"lowered or left", "lower-or-leave", down, outcome{"private,slave", "left"}, outcome{"private", "applied"}},
	} {
		s.Run(test.name, func(t *testing.T) {
			s := s.on(t)
			dir := s.dir()
			p := &pod{
				namespace: test.namespace, name: "userns", uid: uid(740 + i),
				users:  &cri.IDMapping{HostId: 100000, Length: 65536},
				mounts: []*cri.Mount{{HostPath: dir, ContainerPath: "/data", Propagation: test.asked}},
			}
			want, err := test.bySpecification, n.tryStart(t, p)
			if inside {
				want = test.within
			}
			if want.propagation == "" {
				if err == nil || !strings.Contains(err.Error(), "cannot be rprivate") {
					s.Errorf("error = %v, want a refusal", err)
				}
				return
			}
			if err != nil {
				s.Fatal(err)
			}
			s.mapped(n, p, dir)
			if got := mountOf(t, p, "/data").Propagation(); got != want.propagation {
				s.Errorf("/data is %s, want %s", got, want.propagation)
			}
			s.proved(service, []*pod{p})
			if want.result != "" {
				decision := awaitEntry(t, "MESSAGE_ID="+decisionID, "CONTAINER_ID_FULL="+p.id)
				if got := outcomeOf(t, decision, "/data", "result"); got != want.result {
					s.Errorf("result = %v, want %s", got, want.result)
				}
			}
			if want.propagation == "private,slave" {
				s.laterUnmapped(p, dir)
			}
		})
	}
}

// laterUnmapped: what the host mounts below an id-mapped mount later has no
// mapping, which is a finding and in the README.
func (s *stack) laterUnmapped(p *pod, dir string) {
	s.Helper()
	mountTmpfs(s.T, filepath.Join(dir, "later"))
	if m := mountOf(s.T, p, "/data/later"); slices.Contains(m.Options, "idmapped") {
		s.Errorf("the later mount is id-mapped, %v: say so in the README", m.Options)
	}
}

// mapped wants the ids of the files at /data to be those of the host: what the
// pod's root writes is root's there.
func (s *stack) mapped(n *node, p *pod, dir string) {
	s.Helper()
	if m := mountOf(s.T, p, "/data"); !slices.Contains(m.Options, "idmapped") {
		s.Errorf("/data has the options %v, want idmapped", m.Options)
	}
	if _, err := n.exec(s.T, p, "write", "/data/file", "text"); err != nil {
		s.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(filepath.Join(dir, "file"), &st); err != nil || st.Uid != 0 || st.Gid != 0 {
		s.Errorf("the file is of %d:%d on the host, %v; want root", st.Uid, st.Gid, err)
	}
	if status := processStatus(s.T, p.pid); !strings.HasPrefix(status["Uid"], "100000\t") {
		s.Errorf("the pod's process has the users %s, want 100000", status["Uid"])
	}
	if err := os.Remove(filepath.Join(dir, "file")); err != nil {
		s.Error(err)
	}
}
