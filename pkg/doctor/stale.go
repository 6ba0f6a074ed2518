package doctor

import (
	"errors"
	"fmt"

	"github.com/mountward/mountward/pkg/facts"
	"github.com/mountward/mountward/pkg/hostview"
	"github.com/mountward/mountward/pkg/namespaces"
)

// The codes of containers whose mounts are not what they asked for, or what the
// host has.
const (
	CodeStaleContainer = "stale-container"   // asked for propagation and has none
	CodeAsAsked        = "container-linked"  // yes: all that asked for propagation have it
	CodeFrozenView     = "frozen-view"       // yes: asked for none, and mounts of the host are missing inside
	CodeContainerBlind = "container-unknown" // cannot tell what a container has
)

// checkStale compares the binds of running containers with the mounts of the
// host that they are of. Propagation is taken over when a container is created:
// one that is older than a repair of the host keeps what it got.
func checkStale(s *Snapshot) []Finding {
	sp, ok := s.host()
	if !ok {
		return nil
	}
	st := stale{Snapshot: s, space: sp, table: sp.first().Table}
	containers := s.containers()
	for _, c := range containers {
		if c.Running.Truth == facts.No {
			continue
		}
		if binds := st.binds(c); len(binds) > 0 {
			st.container(c, binds)
		}
	}
	if st.linked > 0 {
		st.found = append(st.found, Finding{
			Code: CodeAsAsked, Answer: facts.Yes, Subject: "containers", Where: sp.where(), Evidence: st.proof,
			Message: fmt.Sprintf("mounts of running containers that asked for propagation and have it: %d", st.linked),
		})
	}
	return append(st.found, st.keepers(containers)...)
}

type stale struct {
	*Snapshot
	space
	table  *hostview.Table
	now    *hostview.Table // read again, when something is missing
	found  []Finding
	linked int
	proof  []Evidence
}

// hostBind is a mount of a container whose source is a directory of the host.
type hostBind struct {
	facts.Mount
	asked  facts.Propagation
	source string         // without symbolic links, as far as it could be told
	host   hostview.Entry // that the source lies on
}

// binds returns those of a container that are worth to look at: those that asked
// for propagation, and those without which show what later mounts are made in.
func (st *stale) binds(c container) []hostBind {
	var all []hostBind
	for _, m := range c.Spec.Mounts {
		b := hostBind{Mount: m, asked: asked(m), source: m.Source}
		if !m.Bind() {
			continue
		}
		if b.asked == facts.Private && !st.shown(b.source) {
			continue
		}
		if files := st.first().Files; files != nil {
			if canonical, err := resolve(st.Context, files, b.source); err == nil {
				b.source = canonical
			}
		}
		var ok bool
		if b.host, ok = st.table.Covering(b.source); ok {
			all = append(all, b)
		}
	}
	return all
}

// shown reports that a directory has a required one in it or is in one. What is
// in the directory of one pod is mounted for that pod.
func (st *stale) shown(source string) bool {
	clean, ok := facts.CleanAbs(source)
	if !ok {
		return false
	}
	if k, ok := facts.ParseKubeletPath(clean, st.kubeletRoot()); ok && k.PodUID != "" {
		return false
	}
	for _, path := range st.Require {
		if facts.Within(path, clean) || facts.Within(clean, path) {
			return true
		}
	}
	return facts.Within(st.kubeletRoot(), clean)
}

func (st *stale) container(c container, binds []hostBind) {
	if c.Running.Truth == facts.Unknown {
		st.blind(c, c.Running.Why)
		return
	}
	table, err := st.tableOf(c)
	switch {
	case errors.Is(err, namespaces.ErrGone):
		return
	case err != nil:
		st.blind(c, err.Error())
		return
	}
	for _, b := range binds {
		inside, why := find(table, b)
		switch {
		case why != "" && b.asked != facts.Private:
			st.blind(c, why)
		case why != "":
		case b.asked == facts.Private:
			st.frozen(c, table, b, inside)
		default:
			st.judge(c, b, inside)
		}
	}
}

// find finds the mount in a container that a bind has become: at its destination,
// or where that was under a symbolic link, by what it shows.
func find(table *hostview.Table, b hostBind) (hostview.Entry, string) {
	rest, _ := facts.Below(b.source, b.host.MountPoint)
	is := facts.Identity{Device: b.host.Device, Root: facts.JoinRoot(b.host.Root, rest)}
	at, ok := table.At(b.CleanDestination())
	if ok && at.Identity() == is {
		return at, ""
	}
	if same := table.ByIdentity(is); len(same) == 1 {
		return same[0], ""
	}
	if ok {
		return at, fmt.Sprintf("%s shows something else than %s does now", word(b.Destination), word(b.source))
	}
	return at, fmt.Sprintf("no mount is at %s", word(b.Destination))
}

// blind says of a container that it cannot be told what it has; once for each.
func (st *stale) blind(c container, why string) {
	if n := len(st.found); n > 0 && st.found[n-1].Code == CodeContainerBlind && st.found[n-1].Subject == c.name() {
		return
	}
	st.found = append(st.found, Finding{
		Code: CodeContainerBlind, Subject: c.name(), Containers: []string{c.name()},
		Message: fmt.Sprintf("cannot tell what propagation %s has: %s", c.name(), why),
	})
}

// judge compares what a bind asked for with what it has, where the host's mount
// is shared. Where that is not, nothing can have it: see checkPropagation.
func (st *stale) judge(c container, b hostBind, inside hostview.Entry) {
	if !b.host.State.Shared() {
		return
	}
	group := b.host.State.Peer
	peer, slave := inside.State.Peer == group, inside.State.Master == group
	f := Finding{
		Code: CodeStaleContainer, Answer: facts.No, Subject: c.name(), Where: st.where(), Containers: []string{c.name()},
		Evidence: []Evidence{c.evidence(inside), st.evidence(b.host)},
	}
	mode := b.asked.Kubernetes()
	switch {
	case peer || slave && b.asked == facts.Slave:
		if st.linked++; len(st.proof) < mostLines {
			st.proof = append(st.proof, c.evidence(inside))
		}
		return
	case slave:
		f.Message = fmt.Sprintf("%s asked for %s at %s and only receives: its mount is %s, the host's shared:%d", c.name(), mode, word(b.Destination), inside.State, group)
		f.Effect = "what the container mounts there does not reach the host"
	case inside.State.Master != 0:
		f.Answer = facts.Unknown
		f.Message = fmt.Sprintf("cannot tell whether %s receives what is mounted below %s: its mount is a slave of group %d, which is not the host's (%d)", c.name(), word(b.source), inside.State.Master, group)
	default:
		f.Message = fmt.Sprintf("%s asked for %s at %s and has none: its mount is %s, the host's shared:%d", c.name(), mode, word(b.Destination), inside.State, group)
		f.Effect = "what is mounted on the host below " + word(b.source) + " later is not seen in the container, and what it saw before stays in use there after the host's unmount"
		if b.asked == facts.Shared {
			f.Effect += "; what the container mounts does not reach the host"
		}
	}
	f.Cause = cause(c, b)
	f.Fixes = []Fix{remake(c)}
	st.found = append(st.found, f)
}

// cause says what makes a container have less than it asked for.
func cause(c container, b hostBind) string {
	root := facts.Requested([]string{c.Spec.RootfsPropagation})
	switch {
	case c.Spec.UserNamespace && b.asked == facts.Shared:
		return "the container has a user namespace of its own: the kernel makes what is shared receive only"
	case root == facts.Private || root != facts.Shared && b.asked == facts.Shared:
		return fmt.Sprintf("rootfsPropagation of the container is %q, which is less than its mount asks for", c.Spec.RootfsPropagation)
	default:
		return "the container was made before the host's mount was shared, or its runtime did not do what was asked (runc before the fix of its issue 5192)"
	}
}
