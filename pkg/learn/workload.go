package learn

import (
	"regexp"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policy"
)

// The suffixes that controllers generate. The random ones have no vowels and none
// of 0, 1 and 3, so that no word is taken for one. Source: kubernetes 1.37
// k8s.io/apimachinery/pkg/util/rand and pkg/controller.
var suffixes = []struct {
	shape *regexp.Regexp
	glob  string
}{
	{regexp.MustCompile(`^(.+)-[bcdfghjklmnpqrstvwxz2456789]{6,10}-[bcdfghjklmnpqrstvwxz2456789]{5}$`), "-*-?????"}, // Deployment
	{regexp.MustCompile(`^(.+)-[0-9]{8,}-[bcdfghjklmnpqrstvwxz2456789]{5}$`), "-*-?????"},                           // CronJob
	{regexp.MustCompile(`^(.+)-[bcdfghjklmnpqrstvwxz2456789]{5}$`), "-?????"},                                       // ReplicaSet, DaemonSet, Job
	{regexp.MustCompile(`^(.+)-(?:0|[1-9][0-9]{0,5})$`), "-[0-9]*"},                                                 // StatefulSet
}

// workload is what makes pods that are alike.
type workload struct {
	namespace string
	name      string // of the pods, without what is generated
	pods      string // glob for their names
}

// workloadOf tells the workload of a pod by its name. A pod of a manifest on the
// node's disk has the node's name at its end, which is not generated: that of
// another node is another pod.
func workloadOf(p facts.Pod) workload {
	w := workload{p.Namespace, p.Name, policy.Literal(p.Name)}
	if p.Static().Truth == facts.Yes {
		return w
	}
	for _, s := range suffixes {
		if parts := s.shape.FindStringSubmatch(p.Name); parts != nil {
			return workload{p.Namespace, parts[1], policy.Literal(parts[1]) + s.glob}
		}
	}
	return w
}

func (w workload) String() string { return w.namespace + "/" + w.name }
