package hazard

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

// decided makes the outcome of a mount that was set to a propagation.
func decided(words string, to facts.Propagation, result facts.Result) facts.Outcome {
	m := bind(words)
	o := facts.Outcome{Mount: m, Asked: m.Requested(), Decided: m.Requested(), Result: result}
	if result == facts.Applied || result == facts.Deferred {
		o.Decided = to
	}
	return o
}

func TestDecidedLists(t *testing.T) {
	t.Parallel()
	kubelet := "/var/lib/kubelet"
	tests := []struct {
		name     string
		outcomes []facts.Outcome
		want     []string // with the stage
	}{
		{"a raise over the kubelet's root", []facts.Outcome{decided("/a "+kubelet+"/pods rprivate", facts.Slave, facts.Applied)}, []string{"decided MW106 /a"}},
		{"a raise above it", []facts.Outcome{decided("/a / rprivate", facts.Slave, facts.Applied)}, []string{"decided MW106 /a"}},
		{"a raise of one volume", []facts.Outcome{decided("/a "+uid+"kubernetes.io~csi/v/mount rprivate", facts.Slave, facts.Applied)}, []string{"decided MW106 /a"}},
		{"a raise over the runtime's state", []facts.Outcome{decided("/a /run/containerd/x rprivate", facts.Slave, facts.Applied)}, []string{"decided MW106 /a"}},
		{"a raise left to the namespace", []facts.Outcome{decided("/a / rprivate", facts.Slave, facts.Deferred)}, []string{"decided MW106 /a"}},
		{"a raise elsewhere", []facts.Outcome{decided("/a /srv/a rprivate", facts.Slave, facts.Applied)}, nil},
		{"a raise that could not be", []facts.Outcome{decided("/a / rprivate", facts.Slave, facts.Left)}, nil},
		{"a raise of what follows already", []facts.Outcome{decided("/a / rslave", facts.Shared, facts.Applied)}, []string{"decided MW103 /a"}},
		{"rslave as asked", []facts.Outcome{decided("/a / rslave", facts.Slave, facts.Unchanged)}, nil},
		{"lowered to rslave", []facts.Outcome{decided("/a "+kubelet+" rshared", facts.Slave, facts.Applied)}, nil},
		{"raised from nothing to rslave", []facts.Outcome{decided("/a /", facts.Slave, facts.Applied)}, nil},

		{"a hazard that lowering cures", []facts.Outcome{decided("/a /srv/a rshared", facts.Slave, facts.Applied), decided("/a/b /srv/b rprivate", 0, facts.Unchanged)}, nil},
		{"a hazard that stays", []facts.Outcome{decided("/a /srv/a rshared", facts.Shared, facts.Unchanged), decided("/a/b /srv/b rprivate", facts.Slave, facts.Applied)}, []string{"asked MW101 /a/b /a"}},
		{"lowering in the namespace comes too late", []facts.Outcome{decided("/a /srv/a rshared", facts.Private, facts.Deferred), decided("/a/b /srv/b rprivate", 0, facts.Unchanged)}, []string{"asked MW101 /a/b /a"}},
		{"a hazard that raising makes", []facts.Outcome{decided("/a /srv/a rprivate", facts.Shared, facts.Applied), decided("/a/b /srv/b rprivate", 0, facts.Unchanged)}, []string{"decided MW101 /a/b /a"}},
		{"rro raised", []facts.Outcome{decided("/a /srv/a rprivate rro", facts.Slave, facts.Applied)}, []string{"decided MW104 /a"}},
		{"no word where the last rshared was lowered", []facts.Outcome{decided("/a /srv/a rshared", facts.Private, facts.Applied), decided("/b /srv/b", 0, facts.Unchanged)}, []string{"asked MW109 /b /a"}},

		{"a change sorts the list, and hides nothing", []facts.Outcome{decided("/a/b /srv/b rprivate", 0, facts.Unchanged), decided("/a /srv/a rprivate", facts.Slave, facts.Applied)}, nil},
		{"without a change it is as it was", []facts.Outcome{decided("/a/b /srv/b rprivate", 0, facts.Unchanged), decided("/a /srv/a rprivate", 0, facts.Unchanged)}, []string{"asked MW111 /a/b /a"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var c facts.Container
			for _, o := range test.outcomes {
				c.Mounts = append(c.Mounts, o.Mount)
			}
			c.Hazards = Check(Asked(c, host()))
			after := After(c, test.outcomes, host())
			got := lines(after)
			for i, h := range after {
				got[i] = string(h.Stage) + " " + got[i]
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("hazards (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMountedLists: the kernel's mount points decide, and what the list says of
// them counts no more.
func TestMountedLists(t *testing.T) {
	t.Parallel()
	at := func(words, at string, p facts.Propagation) Mount {
		m := bind(words)
		return Mount{Mount: m, Asked: m.Requested(), Propagation: p, At: at}
	}
	with := func(m Mount, change func(*Mount)) Mount { change(&m); return m }
	tests := []struct {
		name   string
		mounts []Mount
		want   []string
	}{
		{"a link leads inside", []Mount{at("/a /srv/a rshared", "/a", facts.Shared), at("/link/b /srv/b rprivate", "/a/b", facts.Private)}, []string{"MW101 /link/b /a"}},
		{"no link is there", []Mount{at("/run /srv/a rshared", "/run", facts.Shared), at("/var/run/b /srv/b rprivate", "/var/run/b", facts.Private)}, nil},
		{"the kernel has no peer on the host", []Mount{at("/a /srv/a rshared", "/a", facts.Private), at("/a/b /srv/b rprivate", "/a/b", facts.Private)}, nil},
		{"no word, but the kernel has a peer", []Mount{at("/a /srv/a", "/a", facts.Shared), at("/a/b /srv/b rprivate", "/a/b", facts.Private)}, []string{"MW101 /a/b /a"}},
		{"what was not found is not judged", []Mount{at("/a /srv/a rshared", "/a", facts.Shared), at("/a/b /srv/b rprivate", "", facts.Private)}, nil},
		{"nested through a link", []Mount{at("/a /srv/a rshared", "/a", facts.Shared), at("/link /srv/b rshared", "/a/b", facts.Shared)}, []string{"MW101 /link /a", "MW102 /link /a"}},
		{"two in one place through a link", []Mount{at("/a /srv/a rprivate", "/a", facts.Private), at("/link /srv/b rprivate", "/a", facts.Private)}, []string{"MW107 /a /link"}},
		{"hidden through a link", []Mount{at("/a/b /srv/a rprivate", "/a/b", facts.Private), at("/link /srv/b rprivate", "/a", facts.Private)}, []string{"MW111 /a/b /link"}},
		{"writable below", []Mount{with(at("/a /srv/a rprivate ro", "/a", facts.Private), func(m *Mount) { m.Writable, m.WritableAt = 2, "/a/x" })}, []string{"MW105 /a"}},
		{"its own root file system", []Mount{with(at("/a /srv/a rprivate", "/a", facts.Private), func(m *Mount) { m.OwnRootfs = true })}, []string{"MW112 /a"}},
		{"what the list alone shows is not told again", []Mount{at("/host / rshared rro", "/host", facts.Shared), at("../x /srv/a", "/x", facts.Private)}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := Check(List{Stage: facts.StageMounted, Mounts: test.mounts, Host: host()})
			if diff := cmp.Diff(test.want, lines(got)); diff != "" {
				t.Errorf("hazards (-want +got):\n%s", diff)
			}
			for _, h := range got {
				if h.Stage != facts.StageMounted || h.Doubt != "" {
					t.Errorf("%+v: want stage mounted and no doubt", h)
				}
			}
		})
	}
}

// TestWithout: what was sure is not told twice; what was in doubt is, once it is
// sure.
func TestWithout(t *testing.T) {
	t.Parallel()
	h := func(code facts.HazardCode, doubt string, destinations ...string) facts.Hazard {
		return facts.Hazard{Code: code, Doubt: doubt, Destinations: destinations}
	}
	known := []facts.Hazard{h("MW101", "", "/a", "/b"), h("MW101", "a link", "/c", "/b"), h("MW105", "", "/d")}
	got := Without([]facts.Hazard{h("MW101", "", "/a", "/b"), h("MW101", "", "/c", "/b"), h("MW101", "", "/b", "/a"), h("MW105", "", "/d"), h("MW107", "", "/d")}, known)
	if diff := cmp.Diff([]string{"MW101 /c /b", "MW101 /b /a", "MW107 /d"}, lines(got)); diff != "" {
		t.Error(diff)
	}
	if got := Without(known, known); got != nil {
		t.Errorf("left over: %v", got)
	}
}
