package hostview

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// largeSpec is like that of a container with the default seccomp filter and 24
// mounts.
func largeSpec() string {
	var calls, mounts strings.Builder
	for i := range 400 {
		fmt.Fprintf(&calls, `"system_call_%d",`, i)
	}
	for i := range 24 {
		fmt.Fprintf(&mounts, `{"destination":"/data/%d","type":"bind","source":"/var/lib/kubelet/pods/7d3f0c21-0000-4000-8000-000000000000/volumes/kubernetes.io~csi/pvc-%d/mount","options":["rbind","rprivate","rw"]},`, i, i)
	}
	text := strings.Replace(privilegedSpec, `"mounts":[`, `"annotations":{"io.kubernetes.cri.container-type":"container","io.kubernetes.cri.sandbox-uid":"7d3f0c21"},"mounts":[`+mounts.String(), 1)
	return strings.Replace(text, `"linux":{`, `"linux":{"seccomp":{"defaultAction":"SCMP_ACT_ERRNO","syscalls":[{"names":[`+calls.String()+`"read"],"action":"SCMP_ACT_ALLOW"}]},`, 1)
}

// What a start waits for, and what a survey reads of each container.
func BenchmarkSpec(b *testing.B) {
	v := openView(b, Options{})
	c := bundle(b, largeSpec())
	b.Run("privilege", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if a := v.Privilege(c); a.Truth == 0 {
				b.Fatal(a)
			}
		}
	})
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := v.Spec(context.Background(), c); err != nil {
				b.Fatal(err)
			}
		}
	})
}
