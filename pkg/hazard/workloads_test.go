package hazard_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mountward/mountward/config"
	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hazard"
	"github.com/mountward/mountward/pkg/internal/workloads"
	"github.com/mountward/mountward/pkg/policy"
)

var update = flag.Bool("update", false, "write the golden file")

// TestHazardsOfRealWorkloads: with what the runtime and the kubelet mount for
// every container, real workloads have the hazards of the golden file and no
// others, and the shipped policy denies none.
func TestHazardsOfRealWorkloads(t *testing.T) {
	t.Parallel()
	const root = "/var/lib/kubelet"
	p, err := policy.Parse(policy.File{Name: "policy.toml", Data: config.Policy()})
	if err != nil {
		t.Fatal(err)
	}
	env := policy.Env{Vars: policy.Vars{KubeletRoot: root, RuntimeState: "/run/containerd", RuntimeRoot: "/var/lib/containerd"}}
	where := hazard.Host{KubeletRoot: root, RuntimeState: env.RuntimeState}
	all, err := workloads.Read("../../config/examples/workloads.csv", root)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	with := 0
	for _, w := range all {
		c := w.Container
		c.ID = "1234"
		c.Mounts = ordered(c.Mounts, root)
		c.Hazards = hazard.Check(hazard.Asked(c, where))
		outcomes := decide(p, c, env)
		judged := p.Judge(hazard.After(c, outcomes, where))
		for _, h := range judged {
			if h.Action != facts.HazardWarn {
				t.Errorf("%s: the shipped policy says %q of %s", w.Name, h.Action, h)
			}
			fmt.Fprintf(&table, "%s | %s | %s\n", w.Name, h.Stage, h)
		}
		if len(judged) > 0 {
			with++
		}
	}
	t.Logf("%d of %d containers have a hazard", with, len(all))
	const file = "testdata/workloads.golden"
	if *update {
		if err := os.WriteFile(file, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), table.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// decide is what the policy in enforce mode would do where the host can carry it.
func decide(p *policy.Policy, c facts.Container, env policy.Env) []facts.Outcome {
	outcomes := make([]facts.Outcome, len(c.Mounts))
	for i, d := range p.Decide(c, env, false) {
		m := c.Mounts[i]
		o := facts.Outcome{Mount: m, Asked: m.Requested(), Decided: m.Requested(), Result: facts.Unchanged}
		if d.Action == facts.ActionSet && d.Propagation != o.Asked {
			o.Decided, o.Result = d.Propagation, facts.Applied
		}
		outcomes[i] = o
	}
	return outcomes
}

// ordered adds what containerd and the kubelet mount for every container, and
// puts it all in containerd's order: what the image's defaults are first, then
// by depth. Source: containerd 2.4.2 internal/cri/opts/spec_linux_opts.go.
func ordered(mounts []facts.Mount, root string) []facts.Mount {
	pod := root + "/pods/11111111-2222-3333-4444-555555555555/"
	given := map[string]bool{}
	for _, m := range mounts {
		given[m.CleanDestination()] = true
	}
	volumes := append([]facts.Mount{}, mounts...)
	sandbox := "io.containerd.grpc.v1.cri/sandboxes/s/"
	for _, own := range [][2]string{
		{"/etc/hosts", pod + "etc-hosts"},
		{"/etc/hostname", "/var/lib/containerd/" + sandbox + "hostname"},
		{"/etc/resolv.conf", "/var/lib/containerd/" + sandbox + "resolv.conf"},
		{"/dev/shm", "/run/containerd/" + sandbox + "shm"},
		{"/dev/termination-log", pod + "containers/c/1"},
		{"/var/run/secrets/kubernetes.io/serviceaccount", pod + "volumes/kubernetes.io~projected/kube-api-access-x"},
	} {
		if !given[own[0]] {
			volumes = append(volumes, facts.Mount{Destination: own[0], Source: own[1], Type: "bind", Options: []string{"rbind", "rprivate", "rw"}})
		}
	}
	depth := func(m facts.Mount) int { return strings.Count(m.CleanDestination(), "/") }
	var list []facts.Mount
	for _, m := range []facts.Mount{
		{Destination: "/proc", Type: "proc", Source: "proc"},
		{Destination: "/dev", Type: "tmpfs", Source: "tmpfs"},
		{Destination: "/dev/pts", Type: "devpts", Source: "devpts"},
		{Destination: "/dev/mqueue", Type: "mqueue", Source: "mqueue"},
		{Destination: "/sys", Type: "sysfs", Source: "sysfs"},
		{Destination: "/sys/fs/cgroup", Type: "cgroup", Source: "cgroup"},
	} {
		if given[m.Destination] || given["/dev"] && strings.HasPrefix(m.Destination, "/dev/") {
			continue
		}
		list = append(list, m)
	}
	for d := range 64 {
		for _, m := range volumes {
			if depth(m) == d {
				list = append(list, m)
			}
		}
	}
	return list
}

// TestPagesShowPoliciesThatLoad: what a page says of the policy is one.
func TestPagesShowPoliciesThatLoad(t *testing.T) {
	t.Parallel()
	for _, code := range facts.HazardCodes() {
		page, _ := hazard.Page(code)
		_, part, _ := strings.Cut(page, "\nIN THE POLICY\n")
		text := "version = 1\nmode = \"audit\"\ndefault = \"allow\"\n"
		for line := range strings.Lines(part) {
			if strings.HasPrefix(line, "  ") {
				text += line
			}
		}
		p, err := policy.Parse(policy.File{Name: string(code), Data: []byte(text)})
		if err != nil {
			t.Errorf("%s: %v", code, err)
			continue
		}
		if p.Hazards[code].Action != facts.HazardDeny {
			t.Errorf("%s: the page does not deny it", code)
		}
	}
}
