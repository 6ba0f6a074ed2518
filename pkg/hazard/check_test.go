package hazard

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
)

func host() Host { return Host{KubeletRoot: "/var/lib/kubelet", RuntimeState: "/run/containerd"} }

// bind is "DESTINATION SOURCE OPTION...".
func bind(words string) facts.Mount {
	f := strings.Fields(words)
	return facts.Mount{Destination: f[0], Source: f[1], Type: "bind", Options: append([]string{"rbind"}, f[2:]...)}
}

func tmpfs(destination string) facts.Mount {
	return facts.Mount{Destination: destination, Source: "tmpfs", Type: "tmpfs"}
}

// asked checks binds as they are asked for and returns one line a hazard.
func asked(c facts.Container) []string { return lines(Check(Asked(c, host()))) }

func lines(hazards []facts.Hazard) []string {
	var all []string
	for _, h := range hazards {
		line := string(h.Code) + " " + strings.Join(h.Destinations, " ")
		if h.Doubt != "" {
			line += " ?"
		}
		all = append(all, line)
	}
	return all
}

const uid = "/var/lib/kubelet/pods/11111111-2222-3333-4444-555555555555/volumes/"

// TestHazards has what must be found and, beside it, what must not.
func TestHazards(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		binds []string
		want  []string
	}{
		{"an ordinary driver", []string{
			"/var/lib/kubelet /var/lib/kubelet rshared", "/csi /var/lib/kubelet/plugins/lvm.example.com rprivate", "/dev /dev rprivate",
		}, nil},
		{"an ordinary pod", []string{
			"/etc/hosts " + uid + "etc-hosts rprivate", "/dev/shm /run/containerd/io.containerd.grpc.v1.cri/sandboxes/x/shm rprivate",
			"/var/run/secrets/kubernetes.io/serviceaccount " + uid + "kubernetes.io~projected/kube-api-access-x rprivate ro", "/data " + uid + "kubernetes.io~csi/pvc-1/mount rprivate",
		}, nil},

		{"inside an rshared one", []string{"/a /srv/a rshared", "/a/b /srv/b rprivate"}, []string{"MW101 /a/b /a"}},
		{"inside, whatever its own propagation", []string{"/a /srv/a rshared", "/a/b /srv/b rslave", "/a/c /srv/c shared"}, []string{"MW101 /a/b /a", "MW101 /a/c /a", "MW102 /a/c /a"}},
		{"inside by component only", []string{"/a /srv/a rshared", "/ab /srv/b rprivate"}, nil},
		{"beside", []string{"/a /srv/a rshared", "/b /srv/b rprivate"}, nil},
		{"inside an rslave one", []string{"/a /srv/a rslave", "/a/b /srv/b rprivate"}, nil},
		{"inside a private one that is inside", []string{"/a /srv/a rshared", "/a/b /srv/b rprivate", "/a/b/c /srv/c rprivate"}, []string{"MW101 /a/b /a"}},
		{"made before it and hidden by it", []string{"/a/b /srv/b rprivate", "/a /srv/a rshared"}, []string{"MW111 /a/b /a"}},
		{"over it at its own place", []string{"/a /srv/a rshared", "/a /srv/b rprivate"}, []string{"MW101 /a /a", "MW107 /a /a"}},
		{"two words that come to private", []string{"/a /srv/a rprivate rshared", "/a/b /srv/b rprivate"}, nil},
		{"inside an option-less one beside an rshared one", []string{"/s /srv/s rshared", "/a /srv/a", "/a/b /srv/b rprivate"}, []string{"MW101 /a/b /a", "MW109 /a /s"}},
		{"inside an option-less one", []string{"/a /srv/a", "/a/b /srv/b rprivate"}, nil},
		{"through the customary link", []string{"/run /run/x rshared", "/var/run/secrets/kubernetes.io/serviceaccount /srv/t rprivate"}, []string{"MW101 /var/run/secrets/kubernetes.io/serviceaccount /run ?"}},
		{"the link is on both sides", []string{"/var/run/calico /var/run/calico rshared", "/var/run/calico/x /srv/t rprivate"}, []string{"MW101 /var/run/calico/x /var/run/calico"}},
		{"the link leads beside it", []string{"/run/calico /run/calico rshared", "/var/run/secrets/x /srv/t rprivate"}, nil},
		{"what is no link", []string{"/run /run/x rshared", "/var/runner/x /srv/t rprivate"}, nil},
		{"shared memory", []string{"/dev /dev rshared", "/dev/shm /srv/shm rprivate"}, []string{"MW101 /dev/shm /dev"}},

		{"nested", []string{"/a /srv/a rshared", "/a/b /srv/a/b rshared"}, []string{"MW101 /a/b /a", "MW102 /a/b /a"}},
		{"nested, the inner with the outer's source", []string{"/a /srv/a/b rshared", "/a/x /srv/a rshared"}, []string{"MW101 /a/x /a", "MW102 /a/x /a"}},
		{"overlapping sources", []string{"/a /srv/a rshared", "/b /srv/a/b rshared"}, []string{"MW102 /b /a"}},
		{"overlapping sources, the outer later", []string{"/b /srv/a/b rshared", "/a /srv/a rshared"}, []string{"MW102 /b /a"}},
		{"one source twice", []string{"/a /srv/a rshared", "/b /srv/a/ rshared"}, []string{"MW102 /b /a"}},
		{"overlapping, but one is not rshared", []string{"/a /srv/a rshared", "/b /srv/a/b rslave"}, nil},
		{"neighbours", []string{"/a /srv/a rshared", "/b /srv/ab rshared"}, nil},

		{"the host's root", []string{"/host / rshared"}, []string{"MW103 /host"}},
		{"proc and sys", []string{"/p /proc rshared", "/s /sys/ rshared"}, []string{"MW103 /p", "MW103 /s"}},
		{"below sys", []string{"/sys/fs/bpf /sys/fs/bpf rshared"}, nil},
		{"above the runtime's state", []string{"/run /run rshared"}, []string{"MW103 /run"}},
		{"in the runtime's state", []string{"/x /run/containerd/io.containerd.runtime.v2.task rshared"}, []string{"MW103 /x"}},
		{"beside the runtime's state", []string{"/x /run/containerd-y rshared"}, nil},
		{"the host's root, not rshared", []string{"/host / rslave"}, nil},

		{"rro that receives", []string{"/a /srv/a rslave rro"}, []string{"MW104 /a"}},
		{"rro without a word", []string{"/a /srv/a rro"}, []string{"MW104 /a"}},
		{"rro of /sys, as the runtime binds it", []string{"/sys /sys rro"}, nil},
		{"rro of /sys, as somebody asks for it", []string{"/sys /sys rslave rro", "/x /sys rro"}, []string{"MW104 /sys", "MW104 /x"}},
		{"rro and private", []string{"/a /srv/a rprivate rro", "/b /srv/b runbindable rro"}, nil},

		{"ro that receives", []string{"/a /srv/a rslave ro"}, []string{"MW105 /a"}},
		{"ro of the whole host", []string{"/a / rprivate ro"}, []string{"MW105 /a"}},
		{"ro of the kubelet's pods", []string{"/a /var/lib/kubelet/pods rprivate ro"}, []string{"MW105 /a"}},
		{"ro of one volume", []string{"/a " + uid + "kubernetes.io~csi/v/mount rprivate ro", "/b /etc/ssl rprivate ro"}, nil},
		{"ro and then rw", []string{"/a /srv/a rslave ro rw"}, nil},
		{"ro and rro", []string{"/a / rprivate ro rro"}, nil},

		{"one place spelled twice", []string{"/a /srv/a rprivate", "/a/ /srv/b rprivate", "//a /srv/c rprivate"}, []string{"MW107 /a /a/ //a"}},
		{"two places", []string{"/a /srv/a rprivate", "/b /srv/a rprivate"}, nil},

		{"a relative destination", []string{"a /srv/a rprivate"}, []string{"MW108 a"}},
		{"a destination NRI cannot name", []string{"-/a /srv/a rprivate"}, []string{"MW108 -/a"}},
		{"a destination that goes up", []string{"/a/../b /srv/a rprivate", "/c/.. /srv/a rprivate"}, []string{"MW108 /a/../b", "MW108 /c/..", "MW111 /a/../b /c/.."}},
		{"a slash at the end, three dots", []string{"/a/ /srv/a rprivate", "/a/.../b /srv/a rprivate"}, nil},

		{"no word beside rshared", []string{"/a /srv/a", "/b /srv/b rshared"}, []string{"MW109 /a /b"}},
		{"no word beside rslave", []string{"/a /srv/a", "/b /srv/b rslave"}, nil},

		{"hidden by a later mount", []string{"/a/b /srv/b rprivate", "/a /srv/a rprivate"}, []string{"MW111 /a/b /a"}},
		{"the usual order", []string{"/a /srv/a rprivate", "/a/b /srv/b rprivate"}, nil},

		{"its own bundle", []string{"/a /run/containerd/io.containerd.runtime.v2.task/k8s.io/self/rootfs rprivate"}, []string{"MW112 /a"}},
		{"another's bundle", []string{"/a /run/containerd/io.containerd.runtime.v2.task/k8s.io/other/rootfs rprivate", "/b /srv/self/x/self rprivate"}, nil},
	}
	covered := map[string]bool{}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := facts.Container{ID: "self"}
			for _, words := range test.binds {
				c.Mounts = append(c.Mounts, bind(words))
			}
			if diff := cmp.Diff(test.want, asked(c)); diff != "" {
				t.Errorf("hazards (-want +got):\n%s", diff)
			}
		})
		for _, line := range test.want {
			covered[line[:5]] = true
		}
	}
	for _, code := range facts.HazardCodes() {
		if own := code == facts.HazardPinForBusy || code == facts.HazardSharedUserns; !own && !covered[string(code)] {
			t.Errorf("%s has no test", code)
		}
	}
}

func TestAnEmptyDestinationIsUnclean(t *testing.T) {
	t.Parallel()
	c := facts.Container{Mounts: []facts.Mount{{Source: "/srv/a", Type: "bind"}}}
	if diff := cmp.Diff([]string{"MW108 "}, asked(c)); diff != "" {
		t.Error(diff)
	}
}

// TestUserNamespace: nothing of a user namespace reaches the host, and that is
// the hazard.
func TestUserNamespace(t *testing.T) {
	t.Parallel()
	c := facts.Container{UserNamespace: true, Mounts: []facts.Mount{
		bind("/host / rshared"), bind("/a /srv/a rshared"), bind("/a/b /srv/a/b rshared"), bind("/c /srv/c"), bind("/d /srv/d rslave"),
	}}
	if diff := cmp.Diff([]string{"MW110 /host", "MW110 /a", "MW110 /a/b"}, asked(c)); diff != "" {
		t.Error(diff)
	}
}

// TestWhatIsNoBind: it is no source of danger, but it can lie inside one, and
// lead on.
func TestWhatIsNoBind(t *testing.T) {
	t.Parallel()
	shared := tmpfs("/t")
	shared.Options = []string{"rshared"}
	c := facts.Container{Mounts: []facts.Mount{
		tmpfs("/sys/fs/cgroup"), bind("/sys /sys rprivate"), // as the runtime does for a hostPath /sys
		shared, tmpfs("/t/x"),
		bind("/a /srv/a rshared"), tmpfs("/a/b"), bind("/a/b/c /srv/c rprivate"),
	}}
	if diff := cmp.Diff([]string{"MW101 /a/b /a", "MW101 /a/b/c /a/b"}, asked(c)); diff != "" {
		t.Error(diff)
	}
}

// TestCanonicalSources: a source is also what it leads to on the host.
func TestCanonicalSources(t *testing.T) {
	t.Parallel()
	m := bind("/x /var/run rshared")
	m.Host = &facts.HostMount{Canonical: "/run"}
	if diff := cmp.Diff([]string{"MW103 /x"}, asked(facts.Container{Mounts: []facts.Mount{m}})); diff != "" {
		t.Error(diff)
	}
	m.Host.Canonical = "/var/run"
	if got := asked(facts.Container{Mounts: []facts.Mount{m}}); got != nil {
		t.Errorf("found %q at a source that leads elsewhere", got)
	}
}

// TestUnknownPlaces: where the kubelet's root and the runtime's state are not
// known nothing is found there.
func TestUnknownPlaces(t *testing.T) {
	t.Parallel()
	c := facts.Container{Mounts: []facts.Mount{bind("/a /run rshared"), bind("/b / rprivate ro")}}
	if got := Check(Asked(c, Host{})); got != nil {
		t.Errorf("found %v", got)
	}
}

// TestMessages: a hazard reads alone, says what rests on a link, and names
// credentials.
func TestMessages(t *testing.T) {
	t.Parallel()
	token := "/var/run/secrets/kubernetes.io/serviceaccount"
	tests := []struct{ binds, want string }{
		{"/run /srv/r rshared|" + token + " " + uid + "kubernetes.io~projected/kube-api-access-x rprivate", "MW101: mount " + token + " is the service account token and lands inside the rshared mount /run: it appears on the host as well, and doubles there at every restart, if the image has the customary link /var/run -> /run"},
		{"/a /srv/a rshared|/a/k " + uid + "kubernetes.io~secret/key rprivate", "MW101: mount /a/k is a secret and lands inside"},
		{"/a /srv/a rshared|/a/k " + uid + "kubernetes.io~projected/all rprivate", "MW101: mount /a/k is a projected volume, which can hold tokens, and lands inside"},
		{"/run /srv/a rshared|/run/secrets/eks.amazonaws.com/x /srv/k rprivate", "is a secret or token and lands inside"},
		{"/dev /dev rshared|/dev/shm /srv/k rprivate", "MW101: mount /dev/shm is the pod's shared memory and lands inside the rshared mount /dev"},
		{"/s /srv/s rshared|/a /srv/a|/a/b /srv/b rprivate", "lands inside the option-less mount /a"},
		{"/a /srv/a rshared|/a /srv/b rprivate", "MW101: mount /a lands on the rshared mount /a"},
		{"/a /srv/a rshared|/a/b /srv/b rshared", "MW102: mount /a/b is rshared inside the rshared mount /a: what is mounted there doubles"},
		{"/a /srv/a rshared|/b /srv/a/b rshared", "MW102: mount /b shares /srv/a/b, which the rshared mount /a shares as well"},
		{"/a/\x1b[31m" + strings.Repeat("x", 300) + " /srv/a rprivate|/a /srv/a rshared|/a/c /srv/b rprivate", "MW101: mount /a/c lands inside"},
	}
	for _, test := range tests {
		c := facts.Container{}
		for words := range strings.SplitSeq(test.binds, "|") {
			c.Mounts = append(c.Mounts, bind(words))
		}
		var got []string
		for _, h := range Check(Asked(c, host())) {
			got = append(got, h.String())
			if len(h.Message) > 500 || strings.ContainsAny(h.Message, "\x1b\n") {
				t.Errorf("message %q", h.Message)
			}
		}
		if !strings.Contains(strings.Join(got, "\n"), test.want) {
			t.Errorf("%s: %q, want %q in it", test.binds, got, test.want)
		}
	}
}

// BenchmarkCheck is what a creation pays.
func BenchmarkCheck(b *testing.B) {
	lists := map[string]func(i int) string{
		"flat":            func(i int) string { return fmt.Sprintf("/data/%d /srv/%d rprivate", i, i) },
		"inside":          func(i int) string { return fmt.Sprintf("/a/%d /srv/%d rprivate", i, i) },
		"chain":           func(i int) string { return strings.Repeat("/a", i+1) + " /srv/a rshared" },
		"one-destination": func(i int) string { return fmt.Sprintf("/a /srv/%d rshared", i) },
		"long":            func(i int) string { return "/" + strings.Repeat("a/", 2000) + fmt.Sprint(i) + " /srv/a rprivate" },
	}
	for _, list := range []string{"flat", "inside", "chain", "one-destination", "long"} {
		for _, n := range []int{12, 500, 1000} {
			c := facts.Container{Mounts: []facts.Mount{bind("/a /srv rshared")}}
			for i := range n {
				c.Mounts = append(c.Mounts, bind(lists[list](i)))
			}
			b.Run(fmt.Sprintf("%s/%d", list, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Check(Asked(c, host()))
				}
			})
		}
	}
}
