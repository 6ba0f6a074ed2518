//go:build linux

package guard_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mountward/mountward/test/runtime/harness"
	"github.com/mountward/mountward/test/runtime/ward"
)

// matrixPolicy has one rule for each namespace, so that one node serves all
// rows.
const matrixPolicy = `version = 1
mode = "enforce"
default = "allow"

[[rule]]
name = "to-rslave"
match.namespace = ["set-rslave"]
match.destination = ["/data"]
action = "set"
propagation = "rslave"

[[rule]]
name = "to-rprivate"
match.namespace = ["set-rprivate"]
match.destination = ["/data"]
action = "set"
propagation = "rprivate"

[[rule]]
name = "to-rshared"
match.namespace = ["set-rshared"]
match.destination = ["/data"]
action = "set"
propagation = "rshared"

[[rule]]
name = "denied"
reason = "not here"
match.namespace = ["deny"]
match.destination = ["/data"]
action = "deny"
`

// reach is what travels between host and container.
type reach int

const (
	nothing reach = iota
	down
	both
)

type row struct {
	source     string // shared, slave, private
	asked      harness.Propagation
	rule       string
	privileged bool
}

// want is what must come of a row: who refuses it, or what travels.
func (r row) want() (refused string, travels reach) {
	asked := map[harness.Propagation]reach{harness.None: nothing, harness.HostToContainer: down, harness.Bidirectional: both}[r.asked]
	// What the runtime itself refuses never comes to us.
	if r.source == "private" && asked != nothing || r.source == "slave" && asked == both {
		return "mounted on", 0
	}
	switch r.rule {
	case "deny":
		return `mountward: mount /data`, 0
	case "set-rprivate":
		return "", nothing
	case "set-rslave":
		if r.source == "private" {
			return "", asked
		}
		return "", down
	case "set-rshared":
		if r.source == "shared" && (r.privileged || asked == both) {
			return "", both
		}
	}
	return "", asked
}

// TestMatrix runs every combination of source, request, rule and privilege, and
// looks at the kernel's table and at what really travels.
func TestMatrix(t *testing.T) {
	g := start(t, ward.Options{Policy: matrixPolicy})
	n := 0
	for _, source := range []string{"shared", "slave", "private"} {
		for _, asked := range []harness.Propagation{harness.None, harness.HostToContainer, harness.Bidirectional} {
			for _, rule := range []string{"none", "set-rslave", "set-rprivate", "set-rshared", "deny"} {
				for _, privileged := range []bool{false, true} {
					r := row{source, asked, rule, privileged}
					n++
					t.Run(fmt.Sprintf("%s/%d/%s/privileged=%t", source, asked, rule, privileged), func(t *testing.T) {
						g.in(t).matrixRow(r)
					})
				}
			}
		}
	}
	if n != 90 {
		t.Errorf("%d rows, want 90", n)
	}
}

func (g *guard) matrixRow(r row) {
	t := g.tb.(*testing.T)
	dirs := harness.TestHostDirs(t)
	dir := map[string]harness.HostDir{"shared": dirs.Shared, "slave": dirs.Slave, "private": dirs.Private}[r.source]
	refused, travels := r.want()
	id, err := g.tryOne(harness.Pod{
		Namespace: r.rule,
		Containers: []harness.Container{{
			Name: "main", Privileged: r.privileged,
			Mounts: []harness.ContainerMount{{HostPath: dir.Path, ContainerPath: "/data", Propagation: r.asked}},
		}},
	})
	if refused != "" {
		if err == nil || !strings.Contains(err.Error(), refused) {
			t.Fatalf("error = %v, want one with %q", err, refused)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}

	host, err := harness.Mountinfo(1)
	if err != nil {
		t.Fatal(err)
	}
	outside, inside := host.At(dir.Path), g.Table(id).At("/data")
	if got := kernelReach(outside, inside); got != travels {
		t.Errorf("kernel: reach %d (host %s, container %s), want %d", got, outside.Propagation(), inside.Propagation(), travels)
	}

	if _, err := dir.MountBelow("here"); err != nil {
		t.Fatal(err)
	}
	// The slave-only source is the head of no group: what is mounted in place
	// goes nowhere.
	if got, want := g.sees(id, "here"), travels >= down && r.source == "shared"; got != want {
		t.Errorf("a mount made in the runtime's namespace is seen: %t, want %t", got, want)
	}
	if dir.Master != "" {
		if _, err := dir.MountAtMaster("above"); err != nil {
			t.Fatal(err)
		}
		if got, want := g.sees(id, "above"), travels >= down; got != want {
			t.Errorf("a mount made at the master is seen: %t, want %t", got, want)
		}
	}
	if r.privileged {
		g.Output(id, "mount-tmpfs", "/data/inside")
		on, err := harness.Mounted(filepath.Join(dir.Path, "inside"))
		if err != nil {
			t.Fatal(err)
		}
		if want := travels == both; on != want {
			t.Errorf("a mount made in the container is on the host: %t, want %t", on, want)
		}
		g.Output(id, "umount", "/data/inside")
	}
	g.never("drift", id)
}

// kernelReach reads what travels off peer groups, not off words.
func kernelReach(host, container *harness.Mount) reach {
	switch {
	case container.Shared != 0 && container.Shared == host.Shared:
		return both
	case container.Master != 0 && (container.Master == host.Shared || container.Master == host.Master):
		return down
	default:
		return nothing
	}
}
