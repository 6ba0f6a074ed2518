//go:build linux

// Package matrix is what must come of a mount: every source it can have on the
// host, with every request, rule and privilege. The tests of the runtime and of
// the virtual machine read it.
package matrix

import (
	"fmt"

	"github.com/mountward/mountward/test/runtime/harness"
)

// Policy has one rule for each namespace, so that one node serves all rows.
const Policy = `version = 1
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

// Row is a container that mounts a source at /data.
type Row struct {
	Source     Source
	Asked      harness.Propagation
	Rule       Rule
	Privileged bool
}

// Source is what the host's mount can reach.
type Source string

// The sources, which harness.HostDirs has.
const (
	Shared  Source = "shared"
	Slave   Source = "slave"
	Private Source = "private"
)

// Rule is the namespace that the rule of Policy is about. No rule is about
// Unruled.
type Rule string

// The rules.
const (
	Unruled     Rule = "none"
	SetRSlave   Rule = "set-rslave"
	SetRPrivate Rule = "set-rprivate"
	SetRShared  Rule = "set-rshared"
	Deny        Rule = "deny"
)

// Rows are all 90.
func Rows() []Row {
	var all []Row
	for _, source := range []Source{Shared, Slave, Private} {
		for _, asked := range []harness.Propagation{harness.None, harness.HostToContainer, harness.Bidirectional} {
			for _, rule := range []Rule{Unruled, SetRSlave, SetRPrivate, SetRShared, Deny} {
				for _, privileged := range []bool{false, true} {
					all = append(all, Row{source, asked, rule, privileged})
				}
			}
		}
	}
	return all
}

// Few are 12 rows for where each takes seconds: every value of every column,
// and each way in which a rule can change what the kernel does, or not.
func Few() []Row {
	const none, down, both = harness.None, harness.HostToContainer, harness.Bidirectional
	return []Row{
		{Shared, none, SetRSlave, false},
		{Shared, none, SetRShared, true},
		{Shared, down, SetRPrivate, false},
		{Shared, down, SetRShared, false},
		{Shared, both, SetRSlave, true},
		{Shared, both, SetRPrivate, true},
		{Shared, both, Unruled, true},
		{Shared, none, Deny, false},
		{Slave, none, SetRSlave, false},
		{Slave, down, SetRShared, true},
		{Private, none, SetRSlave, true},
		{Private, down, Unruled, true},
	}
}

// Pairs are 24 rows, the few among them: every two values of two columns meet.
func Pairs() []Row {
	const none, down, both = harness.None, harness.HostToContainer, harness.Bidirectional
	return append(Few(),
		Row{Shared, none, Unruled, false},
		Row{Shared, down, SetRSlave, true},
		Row{Shared, both, SetRShared, false},
		Row{Slave, none, SetRPrivate, true},
		Row{Slave, none, SetRShared, true},
		Row{Slave, down, SetRSlave, true},
		Row{Slave, down, SetRPrivate, false},
		Row{Slave, down, Deny, true},
		Row{Slave, both, Unruled, false},
		Row{Private, none, SetRPrivate, false},
		Row{Private, none, SetRShared, true},
		Row{Private, both, Deny, false},
	)
}

func (r Row) String() string {
	return fmt.Sprintf("%s/%d/%s/privileged=%t", r.Source, r.Asked, r.Rule, r.Privileged)
}

// Dir is the source on a host.
func (r Row) Dir(dirs *harness.HostDirs) harness.HostDir {
	return map[Source]harness.HostDir{Shared: dirs.Shared, Slave: dirs.Slave, Private: dirs.Private}[r.Source]
}

// Want is what must come of a row: what the error says that refuses it, or what
// travels.
func (r Row) Want() (refused string, travels Reach) {
	asked := map[harness.Propagation]Reach{harness.None: Nothing, harness.HostToContainer: Down, harness.Bidirectional: Both}[r.Asked]
	// What the runtime itself refuses never comes to us.
	if r.Source == Private && asked != Nothing || r.Source == Slave && asked == Both {
		return "mounted on", 0
	}
	switch r.Rule {
	case Deny:
		return `mountward: mount /data`, 0
	case SetRPrivate:
		return "", Nothing
	case SetRSlave:
		if r.Source == Private {
			return "", asked
		}
		return "", Down
	case SetRShared:
		if r.Source == Shared && (r.Privileged || asked == Both) {
			return "", Both
		}
	case Unruled:
	}
	return "", asked
}

// Reach is what travels between host and container.
type Reach int

// What mounts travel.
const (
	Nothing Reach = iota
	Down          // the host's
	Both          // the container's as well
)

func (r Reach) String() string { return [...]string{"nothing", "down", "both"}[r] }
