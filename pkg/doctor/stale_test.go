package doctor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

func TestAContainerIsComparedWithWhatItAskedFor(t *testing.T) {
	const inside = "400 300 0:50 / / rw - overlay overlay rw\n"
	const who = " default/x main (aaaaaaaaaaaa) [default/x main (aaaaaaaaaaaa)]"
	volumes := volumesOf(3)
	kubelet := func(state string) string {
		return "401 400 253:1 /var/lib/kubelet /k rw" + state + " - ext4 /dev/vda1 rw\n"
	}
	for _, c := range []struct {
		name  string
		host  string
		mount facts.Mount
		table string
		edit  func(*namespaces.Task)
		want  []string
		says  []string
	}{
		{
			"HostToContainer that receives", sharedAll, bindOf("/var/lib/kubelet", "/k", "rslave"), kubelet(" master:1"), nil,
			[]string{"yes container-linked containers"},
			[]string{"have it: 1", "master:1"},
		},
		{"Bidirectional that is a peer", sharedAll, bindOf("/var/lib/kubelet", "/k", "rshared"), kubelet(" shared:1"), nil, []string{"yes container-linked containers"}, nil},
		{
			"made before the host was shared (M117)", sharedAll, bindOf("/var/lib/kubelet", "/k", "rslave"), kubelet(""), nil,
			[]string{"no stale-container" + who},
			[]string{"asked for HostToContainer at /k and has none", "its mount is private, the host's shared:1", "kubectl delete pod -n default x", "253:1 /var/lib/kubelet /k"},
		},
		{"Bidirectional that is private (M22)", sharedAll, bindOf("/var/lib/kubelet", "/k", "rshared"), kubelet(""), nil, []string{"no stale-container" + who}, []string{"does not reach the host"}},
		{
			"rslave under a private rootfs (M21, M23)", sharedAll, bindOf("/var/lib/kubelet", "/k", "rslave"), kubelet(""), func(t *namespaces.Task) { t.Spec.RootfsPropagation = "rprivate" },
			[]string{"no stale-container" + who},
			[]string{`rootfsPropagation of the container is "rprivate"`},
		},
		{
			"Bidirectional that only receives (M24)", sharedAll, bindOf("/var/lib/kubelet", "/k", "rshared"), kubelet(" shared:9 master:1"), func(t *namespaces.Task) { t.Spec.RootfsPropagation = "rslave" },
			[]string{"no stale-container" + who},
			[]string{"only receives", `rootfsPropagation of the container is "rslave"`},
		},
		{
			"Bidirectional in a user namespace (M110)", sharedAll, bindOf("/var/lib/kubelet", "/k", "rshared"), kubelet(" master:1"), func(t *namespaces.Task) { t.Spec.UserNamespace = true },
			[]string{"no stale-container" + who},
			[]string{"user namespace"},
		},
		{"a group of its own, shared", sharedAll, bindOf("/var/lib/kubelet", "/k", "rslave"), kubelet(" shared:9"), nil, []string{"no stale-container" + who}, nil},
		{"a slave of a group that is elsewhere", sharedAll, bindOf("/var/lib/kubelet", "/k", "rslave"), kubelet(" master:8"), nil, []string{"unknown stale-container" + who}, []string{"group 8"}},
		{
			"the host is private: said of the host, not of the container", private, bindOf("/var/lib/kubelet", "/k", "rslave"), kubelet(""), nil,
			[]string{"yes keeps-old-state / [default/x main (aaaaaaaaaaaa)]"},
			[]string{"1 running containers", "25 1 253:1 / / rw,noatime", "restart them"},
		},
		{"the host is private, and so is what was asked for", private, bindOf("/var/lib/kubelet", "/k", "rprivate"), kubelet(""), nil, []string{}, nil},
		{"the host is private, and the container has nothing of it", private + "40 25 0:9 / /srv rw - tmpfs t rw\n", bindOf("/srv", "/s", "rslave"), "401 400 0:9 / /s rw - tmpfs t rw\n", nil, []string{}, nil},
		{"under a symbolic link of the image", sharedAll, bindOf("/run", "/var/run", "rslave"), "401 400 0:5 / /run rw master:2 - tmpfs tmpfs rw\n", nil, []string{"yes container-linked containers"}, nil},
		{
			"overmounted on the host since", sharedAll + "40 25 0:99 / /var/lib/kubelet rw shared:9 - tmpfs t rw\n", bindOf("/var/lib/kubelet", "/k", "rslave"), kubelet(" master:1"), nil,
			[]string{"unknown container-unknown" + who},
			[]string{"shows something else"},
		},
		{"not there at all", sharedAll, bindOf("/var/lib/kubelet", "/k", "rslave"), "", nil, []string{"unknown container-unknown" + who}, []string{"no mount is at /k"}},
		{
			"None, and three volumes of the host are missing (M71)", sharedAll + volumes, bindOf("/var/lib/kubelet", "/k", "rprivate"), kubelet(""), nil,
			[]string{"yes frozen-view" + who},
			[]string{"3 host submounts of /var/lib/kubelet are missing inside", "mountPropagation: HostToContainer"},
		},
		{"None, and all is there", sharedAll + volumes, bindOf("/var/lib/kubelet", "/k", "rprivate"), kubelet("") + strings.NewReplacer("/var/lib/kubelet", "/k", " 25 ", " 401 ").Replace(volumes), nil, []string{}, nil},
		{"None of a directory that nothing is mounted in for others", sharedAll + volumes, bindOf("/etc/ssl", "/k", "rprivate"), "401 400 253:1 /etc/ssl /k rw - ext4 /dev/vda1 rw\n", nil, []string{}, nil},
		{"None of a pod's own volume", sharedAll + volumes, bindOf(podDir+"uid-1/volumes/kubernetes.io~secret/s", "/k", "rprivate"), "401 400 0:101 / /k rw - tmpfs tmpfs rw\n", nil, []string{}, nil},
		{"a word less and a rootfs that receives", sharedAll + volumes, facts.Mount{Source: "/var/lib/kubelet", Destination: "/k", Type: "bind", Options: []string{"rbind"}}, kubelet(" master:1"), nil, []string{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := taskOf("a", "x", 2000, c.mount)
			if c.edit != nil {
				c.edit(&x)
			}
			found := checkStale(ordinary(c.host).run(x, otherNS, inside+c.table).snapshot(t, x))
			if diff := cmp.Diff(c.want, brief(found)); diff != "" {
				t.Fatal(diff)
			}
			if len(found) > 0 {
				says(t, found[0], c.says...)
			}
		})
	}
}

func TestAContainerThatEndedHasNothingStale(t *testing.T) {
	x := taskOf("a", "x", 2000, bindOf("/var/lib/kubelet", "/k", "rslave"))
	if found := checkStale(ordinary(sharedAll).snapshot(t, x)); len(found) != 0 {
		t.Error(brief(found))
	}
	h := ordinary(sharedAll).run(x, otherNS, "")
	delete(h, "/proc/2000/mountinfo")
	if found := checkStale(h.snapshot(t, x)); len(found) != 0 {
		t.Error(brief(found))
	}
	h["/proc/2000/mountinfo/no"] = "file"
	if found := checkStale(h.snapshot(t, x)); len(found) != 1 || found[0].Answer != facts.Unknown {
		t.Error(brief(found))
	}
	s := h.snapshot(t, x)
	s.Census = nil
	if found := checkStale(s); len(found) != 1 || found[0].Answer != facts.Unknown {
		t.Error(brief(found))
	}
}

// TestANumberThatIsAnothersIsNoContainer: the process with the number that the
// runtime wrote down is of the host by now.
func TestANumberThatIsAnothersIsNoContainer(t *testing.T) {
	x := taskOf("a", "x", 900, bindOf("/var/lib/kubelet", "/k", "rslave"))
	s := ordinary(sharedAll).snapshot(t, x)
	if c := s.containers()[0]; c.Running.Truth != facts.No {
		t.Errorf("%+v", c.Running)
	}
	if found := checkStale(s); len(found) != 0 {
		t.Error(brief(found))
	}
}
