package learn

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/policytest"
)

// TestEveryKindOfPodIsLearned: what runs is allowed, with the facts about its volume
// that a policy can ask for and without them, and what differs in one thing is not.
// learned holds each policy to lint and to its own tests.
func TestEveryKindOfPodIsLearned(t *testing.T) {
	pod := func(name, rest string) string {
		return node.KubeletRoot + "/pods/0c9bd0f5-4a6e-4d4a-9f0a-" + name + "/" + rest
	}
	const pv = "pvc-0c9bd0f5-4a6e-4d4a-9f0a-0123456789ab"
	for _, test := range []struct {
		name, pod string
		next      string // a pod of the same workload, "": there is none
		source    func(pod string) string
		asked     facts.Propagation
		static    bool
	}{
		{name: "hostPath of a DaemonSet", pod: "agent-x7k2p", next: "agent-qqqqq", source: func(string) string { return "/var/log" }, asked: facts.Slave},
		{name: "hostPath of a driver", pod: "driver-x7k2p", next: "driver-qqqqq", source: func(string) string { return node.KubeletRoot + "/plugins" }, asked: facts.Shared},
		{name: "CSI volume of a StatefulSet", pod: "db-0", next: "db-1", source: func(p string) string { return pod(p, "volumes/kubernetes.io~csi/"+pv+"/mount") }, asked: facts.Slave},
		{name: "sub-path of a Deployment", pod: "web-7d9c5b8f4-x7k2p", next: "web-59f6c8d77b-qqqqq", source: func(p string) string { return pod(p, "volume-subpaths/config/app/0") }, asked: facts.Slave},
		{name: "sub-path of a volume of a Deployment", pod: "web-7d9c5b8f4-x7k2p", next: "web-59f6c8d77b-qqqqq", source: func(p string) string { return pod(p, "volume-subpaths/"+pv+"/app/0") }, asked: facts.Slave},
		{name: "emptyDir of a Job", pod: "once-x7k2p", next: "once-qqqqq", source: func(p string) string { return pod(p, "volumes/kubernetes.io~empty-dir/scratch") }, asked: facts.Slave},
		{name: "emptyDir of a CronJob", pod: "nightly-29384756-x7k2p", next: "nightly-29384816-qqqqq", source: func(p string) string { return pod(p, "volumes/kubernetes.io~empty-dir/scratch") }, asked: facts.Unset},
		{name: "static pod", pod: "etcd-node-1", source: func(string) string { return "/var/lib/etcd" }, asked: facts.Slave, static: true},
		{name: "static pod with the name of a generated one", pod: "proxy-x7k2p", source: func(string) string { return "/etc/proxy" }, asked: facts.Slave, static: true},
		{name: "a path with the signs of globs", pod: "odd-0", next: "odd-1", source: func(string) string { return "/srv/**/[a-z]{b,c}?\\*\n\"x" }, asked: facts.Slave},
		{name: "a volume with the signs of globs", pod: "odd-0", next: "odd-1", source: func(p string) string { return pod(p, "volumes/kubernetes.io~csi/*/mount") }, asked: facts.Slave},
	} {
		t.Run(test.name, func(t *testing.T) {
			of := func(namespace, pod, source string, asked facts.Propagation) facts.Container {
				c := running(namespace, pod, "main", bind(source, "/data", asked))
				if test.static {
					c.Pod.Annotations = map[string]string{facts.AnnotationConfigSource: "file"}
				}
				return c
			}
			source := test.source(test.pod)
			ran := of("prod", test.pod, source, test.asked)
			l, p := learned(t, ran)
			if len(l.Unknown) > 0 {
				t.Errorf("not learned: %v", l.Unknown)
			}
			decided := func(c facts.Container) facts.Action {
				got := actions(p, c)
				return got[len(got)-1]
			}
			known := ran
			known.Mounts = slices.Clone(ran.Mounts)
			for i := range known.Mounts {
				known.Mounts[i].Volume, _ = facts.VolumeOf(&known, &known.Mounts[i], node.KubeletRoot)
			}
			for name, c := range map[string]facts.Container{"as it ran": ran, "with what is known of its volume": known} {
				if slices.Contains(actions(p, c), facts.ActionDeny) {
					t.Errorf("denied %s:\n%s", name, l.Policy)
				}
			}
			if test.next != "" && decided(of("prod", test.next, test.source(test.next), test.asked)) != facts.ActionAllow {
				t.Errorf("the next pod is denied:\n%s", l.Policy)
			}
			for name, c := range map[string]facts.Container{
				"another namespace":    of("test", test.pod, source, test.asked),
				"another pod":          of("prod", "other", source, test.asked),
				"another source":       of("prod", test.pod, "/srv/other", test.asked),
				"what lies above":      of("prod", test.pod, "/", test.asked),
				"what lies below":      of("prod", test.pod, source+"/x", test.asked),
				"more":                 of("prod", test.pod, source, facts.Shared),
				"another of its globs": of("prod", test.pod, "/srv/a/b", test.asked),
			} {
				if name == "more" && test.asked == facts.Shared {
					continue // there is no more
				}
				if got := decided(c); got != facts.ActionDeny {
					t.Errorf("%s: %s\n%s", name, got, l.Policy)
				}
			}
			if test.static && decided(of("prod", test.pod[:len(test.pod)-1]+"z", source, test.asked)) != facts.ActionDeny {
				t.Errorf("a static pod of another node is allowed:\n%s", l.Policy)
			}
		})
	}
}

// TestALargeNodeIsLearned: with every promise held, and how long it takes printed.
func TestALargeNodeIsLearned(t *testing.T) {
	var all []facts.Container
	for i := range 500 {
		pod := fmt.Sprintf("app-%d-7d9c5b8f4-x7k2p", i)
		c := running(fmt.Sprintf("team-%d", i%40), pod, "main",
			bind(node.KubeletRoot+"/pods/0c9bd0f5-4a6e-4d4a-9f0a-"+pod+"/volumes/kubernetes.io~empty-dir/scratch", "/scratch", facts.Slave),
			bind(fmt.Sprintf("/srv/%d", i%7), "/srv", facts.Unset))
		c.ID = fmt.Sprint(i)
		all = append(all, c)
	}
	began := time.Now()
	l, err := Learn(Seen{From: "a test", Vars: node, Containers: all})
	took := time.Since(began)
	if err != nil {
		t.Fatal(err)
	}
	f, err := policytest.Parse(TestsName, l.Tests)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("learned %d workloads in %s: %d rules, %d bytes, %d tests", len(all), took, l.Rules, len(l.Policy), len(f.Cases))
	if len(l.Unknown) > 0 || l.Rules < len(all) || bytes.Contains(l.Policy, []byte("NOT COMPLETE")) {
		t.Errorf("%d rules, unknown %v", l.Rules, l.Unknown)
	}
}
