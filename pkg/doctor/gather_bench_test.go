package doctor

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkPropagation looks at a node with so many mounts, all there is to read
// included.
func BenchmarkPropagation(b *testing.B) {
	for _, n := range []int{100, 50_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var mounts strings.Builder
			mounts.WriteString(sharedAll)
			for i := range n {
				fmt.Fprintf(&mounts, "%d 25 0:%d / /var/lib/kubelet/pods/%08d-0000-4000-8000-000000000000/volumes/kubernetes.io~projected/kube-api-access-x rw,relatime shared:%d - tmpfs tmpfs rw\n", 100+i, 100+i, i, 100+i)
			}
			m := ordinary(mounts.String()).machine(b)
			for b.Loop() {
				s, err := Gather(b.Context(), m)
				if err != nil {
					b.Fatal(err)
				}
				if r := Run(b.Context(), s, []Check{{"kubelet", checkKubelet}, {"propagation", checkPropagation}}); r.Exit() != 0 {
					b.Fatalf("exit %d", r.Exit())
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
