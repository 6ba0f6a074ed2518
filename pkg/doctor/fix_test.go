package doctor

import (
	"os"
	"strings"
	"testing"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/namespaces"
)

func overwrite(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOurDropInIsReadLast: of two that assign one key, the later counts.
func TestOurDropInIsReadLast(t *testing.T) {
	for _, tc := range []struct {
		others []string
		want   string
	}{
		{nil, "90-host-mounts.conf"},
		{[]string{"/etc/systemd/system/x.service.d/10-a.conf"}, "90-host-mounts.conf"},
		{[]string{"/etc/systemd/system/x.service.d/90-host-mounts.conf"}, "90-host-mounts.conf"}, // ours
		{[]string{"/run/systemd/system/x.service.d/99-hardening.conf", "/etc/systemd/system/x.service.d/10-a.conf"}, "zz-host-mounts.conf"},
		{[]string{"/etc/systemd/system/x.service.d/zzz.conf"}, "zzzz-host-mounts.conf"},
		{[]string{"/etc/systemd/system/x.service.d/~.conf"}, "~z-host-mounts.conf"},
	} {
		got := lastDropIn(tc.others)
		if got != tc.want {
			t.Errorf("after %q: %s, want %s", tc.others, got, tc.want)
		}
		for _, other := range tc.others {
			if base := other[strings.LastIndex(other, "/")+1:]; base > got {
				t.Errorf("%s is read before %s", got, base)
			}
		}
	}
}

// TestALinkOnTheWayIsNotReplaced: a directory can be bound in place of the link
// that the root itself is, and of no other.
func TestALinkOnTheWayIsNotReplaced(t *testing.T) {
	for _, tc := range []struct {
		name   string
		mounts string
		files  map[string]string
		fixed  string
		never  string
	}{
		{"the root itself", sharedAll, map[string]string{kubelet: "-> /real/kubelet", "/real/kubelet/pods/x": ""}, "mount --rbind /real/kubelet /var/lib/kubelet", "mount --bind"},
		{"a directory above it", sharedAll, map[string]string{"/var/lib": "-> /real", "/real/kubelet/pods/x": ""}, "--root-dir=/real/kubelet", "mount "},
		{"what is private would be doubled", private, map[string]string{kubelet: "-> /real/kubelet", "/real/kubelet/pods/x": ""}, "must be unmounted or shared first", "mount --rbind"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, _ := ordinary(tc.mounts).with(tc.files).machine(t).findings(t, Check{"kubelet", checkKubelet})
			f := r.Findings[0]
			if f.Code != CodeRootLink || f.Answer != facts.No {
				t.Fatalf("%+v", f)
			}
			if text := fixText(f); !strings.Contains(text, tc.fixed) || strings.Contains(text, tc.never) {
				t.Errorf("fixed with\n%s", text)
			}
			for _, x := range f.Fixes {
				if x.File == "/etc/fstab" && !x.Add {
					t.Error("the machine's fstab is replaced")
				}
			}
		})
	}
}

// TestWhatIsDeletedComesBack: no command deletes a pod that nothing makes anew.
func TestWhatIsDeletedComesBack(t *testing.T) {
	for _, tc := range []struct {
		name        string
		pod         facts.Pod
		says, never string
	}{
		{"of a controller, or bare", facts.Pod{Namespace: "shop", Name: "cart-0", UID: "0a8f0f4e-0000-4000-8000-000000000000"}, "grep -qvx Node && kubectl delete pod -n shop cart-0", "manifest out"},
		{"static by its annotation", facts.Pod{Namespace: "kube-system", Name: "etcd-a", Annotations: map[string]string{facts.AnnotationConfigSource: "file"}}, "move the manifest out", "kubectl delete"},
		{"static by its UID", facts.Pod{Namespace: "kube-system", Name: "etcd-a", UID: "0123456789abcdef0123456789abcdef"}, "move the manifest out", "kubectl delete"},
		{"of no pod", facts.Pod{}, "anew", "kubectl"},
	} {
		f := remake(container{Task: namespaces.Task{Container: facts.Container{Pod: tc.pod}}})
		text := f.What + "\n" + strings.Join(f.Commands, "\n")
		if !strings.Contains(text, tc.says) || strings.Contains(text, tc.never) {
			t.Errorf("%s: %s", tc.name, text)
		}
	}
}
