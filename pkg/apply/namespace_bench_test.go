package apply

import (
	"testing"

	"github.com/mountward/mountward/pkg/facts"
)

// BenchmarkInside lowers a mount of a container and raises it again.
func BenchmarkInside(b *testing.B) {
	n := newNode(b)
	c := n.run(b, nil, "rslave", n.shared+":/data:rprivate")
	decided := map[bool]facts.Propagation{true: facts.Slave, false: facts.Private}
	for i := 0; b.Loop(); i++ {
		up := i%2 == 0
		var applier Namespace
		r := applier.Apply(b.Context(), c.request(b, n.deferred(b, n.shared, "/data", decided[!up], decided[up])))
		if !r.found("namespace-applied") {
			b.Fatalf("%+v", r)
		}
	}
}
